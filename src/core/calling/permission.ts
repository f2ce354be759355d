/**
 * Decides whether a tool may be called (S4). Only this module reads the setting
 * `mcpToolsets.toolPermissions` and asks a person about a call. Invariants: every call passes
 * `permit` before it goes to a server; a person is asked at most once about a call, here or in the
 * chat of `@minds` (`consented`); one question is open at a time; a call without a waiting caller
 * withdraws its question, and a late answer counts for nothing; an answer for a conversation holds
 * for one tool of one server under one name and for the same rules with arguments, until the host
 * ends or the setting changes.
 */
import { abortSignalOf, type CancelSignal } from '../base/cancellation.js';
import { unlessAborted } from '../base/events.js';
import type { ConversationTool } from '../minds/model.js';
import type { ToolsetCall } from '../protocol/request.js';
import type { ServedTool } from '../tools/catalogue.js';
import {
  compilePermissions,
  permissionOf,
  permissionOfAll,
  rulesFor,
  type PermissionRules,
  type PermissionVerdict,
  type ToolNames,
} from '../tools/permissions.js';
import { adminNames } from '../catalogue/admin.js';

export interface CallQuestion {
  readonly toolset: string;
  /** Absent if the question appears in the conversation's own chat. */
  readonly conversation?: string;
  readonly tool: string;
  readonly title: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
}

export type CallAnswer = 'no' | 'once' | 'inConversation';

export interface PermissionDeps {
  /** Returns the values of the setting from each place, the person's own first. */
  readonly settings: () => readonly unknown[];
  /**
   * A closed question and a rejection are `no`. When the signal aborts, the question should
   * disappear.
   */
  readonly ask: (question: CallQuestion, signal: AbortSignal) => PromiseLike<CallAnswer>;
  /** False if nobody is there to be asked, so each answer is `no`. The default is true. */
  readonly isAskable?: () => boolean;
}

type ToolInChat = Pick<ConversationTool, 'toolset' | 'name' | 'original' | 'annotations'>;

type Sent = ToolsetCall['arguments'];

const allowEverything: PermissionDeps = { settings: () => [], ask: () => Promise.resolve('no') };

export class Permission {
  private rules: PermissionRules;
  private readonly allowed = new Set<string>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly deps: PermissionDeps = allowEverything,
    private readonly onChange: () => void = () => {},
  ) {
    this.rules = compilePermissions(deps.settings());
  }

  get isAskable(): boolean {
    return this.deps.isAskable?.() ?? true;
  }

  /** Returns the verdict about all calls of a tool. */
  readonly verdictOf = (tool: ToolNames) => permissionOfAll(tool, this.rules);

  /** Returns the verdict about one call. No consent lifts a denial. */
  judge(tool: ToolNames, sent: Sent): PermissionVerdict {
    return permissionOf(tool, this.rules, sent);
  }

  /**
   * True if no question is needed. Otherwise resolves with false for a no, or when the caller left.
   * Never rejects.
   */
  permit(
    served: ServedTool,
    call: ToolsetCall,
    verdict = this.judge(served, call.arguments),
  ): true | Promise<boolean> {
    const isAsked = call.isPromised || verdict.permission === 'ask';
    if (call.consented !== undefined || !isAsked) return true;
    const { published, original, tool } = served;
    const { toolset, arguments: given, conversation, signal } = call;
    const title = tool.title ?? tool.annotations?.title;
    const question: CallQuestion = {
      toolset,
      conversation,
      tool: published,
      title,
      arguments: given,
    };
    const named = {
      toolset,
      original,
      name: published,
    };
    const key = answerKey(conversation, named, verdict);
    const answer = this.last.then(() => this.ask(question, key, signal)).catch(() => false);
    this.last = answer;
    return unlessAborted(answer, signal).catch(() => false);
  }

  /**
   * True if `@minds` asks in the chat before it calls a tool. Without a rule it follows the editor
   * and asks unless a tool only reads. A rule that allows counts only if it is the person's own,
   * and if it also allows the original name. A workspace must not answer for the person, and it
   * needs no approval to rename a tool.
   */
  isAskedInChat(conversation: string, tool: ToolInChat, sent: Sent): boolean {
    const { name, original, annotations } = tool;
    const names = { original, published: name };
    const verdict = permissionOf(names, this.rules, sent);
    if (this.allowed.has(answerKey(conversation, tool, verdict))) return false;
    // The host refuses a denied call and says why.
    if (verdict.permission !== 'allow') return verdict.permission === 'ask';
    const [own = []] = this.rules;
    if (rulesFor(names, own, sent).every((rule) => rule !== undefined)) return false;
    return annotations?.readOnlyHint !== true && !adminNames.has(name);
  }

  allowInChat(conversation: string, tool: ToolInChat, sent: Sent): void {
    const names = { original: tool.original, published: tool.name };
    this.allowed.add(answerKey(conversation, tool, permissionOf(names, this.rules, sent)));
  }

  /** Has to be called when the setting changed. */
  recheck(): void {
    this.rules = compilePermissions(this.deps.settings());
    this.allowed.clear();
    this.onChange();
  }

  private async ask(question: CallQuestion, key: string, signal: CancelSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.allowed.has(key)) return true;
    const asked = Promise.resolve(this.deps.ask(question, abortSignalOf(signal)));
    const answer = await unlessAborted(asked, signal);
    if (signal.aborted) return false;
    if (answer === 'inConversation') this.allowed.add(key);
    return answer !== 'no';
  }
}

/**
 * Contains the server and both names, because an edit can give a name to another tool without an
 * approval. Contains the rules that looked at the arguments, because a person who allows a tool has
 * not allowed the calls that another rule asks about.
 */
function answerKey(
  conversation: string,
  { toolset, original, name }: ToolInChat,
  { permission, byArguments }: PermissionVerdict,
): string {
  const asking = permission === 'ask' ? byArguments : [];
  return JSON.stringify([conversation, toolset, original, name, asking]);
}
