/**
 * Names conversations. The editor's API has no titles, but its files of chats beside our storage
 * do. Without `vscode`.
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Emitter } from '../../core/base/events.js';
import { BoundedMap } from '../../core/base/boundedMap.js';
import { clipped } from '../../core/base/text.js';
import { anyBytes, readTextFile } from '../../core/base/textFile.js';

export interface ConversationTitle {
  readonly text: string;
  readonly chat?: string;
}

const mostRead = 4 * 2 ** 20;
const longest = 80;
/** The title of a chat may change, so a title is read again after this time, in milliseconds. */
const lasts = 30_000;

export class ConversationTitles {
  private readonly titles = new BoundedMap<string, ConversationTitle>(200);
  private readonly readAt = new BoundedMap<string, number>(200);
  private readonly changes = new Emitter<void>();

  readonly onDidChange = this.changes.event;

  constructor(
    private readonly storage: string | undefined,
    private readonly now: () => number,
  ) {}

  readonly of = (conversation: string): ConversationTitle | undefined => {
    void this.find(conversation);
    return this.titles.get(conversation);
  };

  /** Resolves to the title after its file was read. Never rejects. */
  async find(conversation: string): Promise<ConversationTitle | undefined> {
    const readAt = this.readAt.get(conversation) ?? 0;
    // Only a chat of the editor has an id of this form, so no other name becomes a path.
    if (
      this.storage !== undefined &&
      /^[\w-]{36}$/.test(conversation) &&
      this.now() - readAt > lasts
    ) {
      this.readAt.set(conversation, this.now());
      const file = path.join(this.storage, '../chatSessions', `${conversation}.jsonl`);
      await this.read(file, conversation).catch(() => undefined);
    }
    return this.titles.get(conversation);
  }

  private async read(file: string, conversation: string): Promise<void> {
    const content = await readTextFile(file, mostRead, anyBytes);
    // Later records change single fields of the first one. A title is later than the question.
    const title = [...content.matchAll(/"customTitle"(?::|\],"v":)("(?:[^"\\]|\\.)*")/g)].at(-1);
    const found = title ?? /"message":\{"text":("(?:[^"\\]|\\.)*")/.exec(content);
    if (found) this.note(conversation, String(JSON.parse(found[1] ?? '""')), conversation);
  }

  /**
   * Notes the title or the first words of a conversation. @param chat the id of the editor's chat
   */
  note(conversation: string, words: string, chat?: string): void {
    const title = clipped(words.trim().replace(/\s+/g, ' '), longest);
    if (title === '' || this.titles.get(conversation)?.text === title) return;
    this.titles.set(conversation, { text: title, ...(chat !== undefined && { chat }) });
    this.changes.fire();
  }
}

const prefix = 'try:';

/** Each panel of *Try Tool* is a conversation and has an instance (L1). */
export function newTrialConversation(): string {
  return `${prefix}${randomUUID()}`;
}

export function isTrial(conversation: string): boolean {
  return conversation.startsWith(prefix);
}
