/**
 * Names conversations for a person. The editor's API gives no titles. The editor keeps each chat in a file beside our
 * storage, so the title or the first words are read there. What cannot be read is skipped. Does not import `vscode`.
 */
import path from 'node:path';
import { Emitter } from '../../core/base/events.js';
import { BoundedMap } from '../../core/base/boundedMap.js';
import { clipped } from '../../core/base/text.js';
import { readTextFile } from '../../core/base/textFile.js';

export interface ConversationTitle {
  readonly text: string;
  /** The chat of the editor that it is, if it is one. */
  readonly chat?: string;
}

/** The file of a longer chat is not read. */
const mostRead = 4 * 2 ** 20;
const longest = 80;
/** A chat may get another title, so it is read again after so many milliseconds. */
const lasts = 30_000;

export class ConversationTitles {
  private readonly titles = new BoundedMap<string, ConversationTitle>(200);
  private readonly readAt = new BoundedMap<string, number>(200);
  private readonly changes = new Emitter<void>();

  readonly onDidChange = this.changes.event;

  /** @param storage the folder of this extension for the workspace, if there is one */
  constructor(
    private readonly storage: string | undefined,
    private readonly now: () => number,
  ) {}

  /** Returns what is known, and begins to read. */
  readonly of = (conversation: string): ConversationTitle | undefined => {
    void this.find(conversation);
    return this.titles.get(conversation);
  };

  /** Resolves when it was read. Never rejects. */
  async find(conversation: string): Promise<ConversationTitle | undefined> {
    const readAt = this.readAt.get(conversation) ?? 0;
    // Only a chat of the editor has such a name, and no other name becomes a path.
    if (this.storage !== undefined && /^[\w-]{36}$/.test(conversation) && this.now() - readAt > lasts) {
      this.readAt.set(conversation, this.now());
      const file = path.join(this.storage, '../chatSessions', `${conversation}.jsonl`);
      await this.read(file, conversation).catch(() => undefined);
    }
    return this.titles.get(conversation);
  }

  private async read(file: string, conversation: string): Promise<void> {
    const content = await readTextFile(file, mostRead);
    // The records set single fields of the first one. A title comes later than the question.
    const title = [...content.matchAll(/"customTitle"(?::|\],"v":)("(?:[^"\\]|\\.)*")/g)].at(-1);
    const found = title ?? /"message":\{"text":("(?:[^"\\]|\\.)*")/.exec(content);
    if (found) this.note(conversation, String(JSON.parse(found[1] ?? '""')), conversation);
  }

  /** Notes the title or the first words of a conversation. @param chat the chat of the editor that it is */
  note(conversation: string, words: string, chat?: string): void {
    const title = clipped(words.trim().replace(/\s+/g, ' '), longest);
    if (title === '' || this.titles.get(conversation)?.text === title) return;
    this.titles.set(conversation, { text: title, ...(chat !== undefined && { chat }) });
    this.changes.fire();
  }
}
