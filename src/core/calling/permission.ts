/**
 * Decides whether a tool may be called (S4). Only this module reads the setting
 * `mcpToolsets.toolPermissions` and asks a person about a call. Invariants: every call passes
 * `permit` before it goes to a server; a person is asked at most once about a call, here or in the
 * chat of `@minds` (`consented`); one question is open at a time; a call without a waiting caller
 * withdraws its question, and a late answer counts for nothing; an answer for a conversation holds
 * for one tool of one server under one name, until the host ends or the setting changes.
 */
import { abortSignalOf, type CancelSignal } from '../base/cancellation.js';
import { unlessAborted } from '../base/events.js';
import type { ConversationTool } from '../minds/model.js';
import type { ToolsetCall } from '../protocol/request.js';
import type { ServedTool } from '../tools/catalogue.js';
import {
  compilePermissions,
  permissionOf,
  type PermissionRules,
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

  readonly verdictOf = (tool: ToolNames) => permissionOf(tool, this.rules);

  /**
   * True if no question is needed. Otherwise resolves with false for a no, or when the caller left.
   * Never rejects.
   */
  permit(served: ServedTool, call: ToolsetCall): true | Promise<boolean> {
    const isAsked = call.isPromised || permissionOf(served, this.rules).permission === 'ask';
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
    const key = toolKey(conversation, {
      toolset,
      original,
      name: published,
    });
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
  isAskedInChat(conversation: string, tool: ToolInChat): boolean {
    if (this.allowed.has(toolKey(conversation, tool))) return false;
    const { name, original, annotations } = tool;
    if (permissionOf({ original, published: name }, this.rules).permission !== 'allow') return true;
    const [own = []] = this.rules;
    if ([name, original].every((one) => own.some(({ pattern }) => pattern.matches(one))))
      return false;
    return annotations?.readOnlyHint !== true && !adminNames.has(name);
  }

  allowInChat(conversation: string, tool: ToolInChat): void {
    this.allowed.add(toolKey(conversation, tool));
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
 * approval.
 */
function toolKey(conversation: string, { toolset, original, name }: ToolInChat): string {
  return JSON.stringify([conversation, toolset, original, name]);
}
