/**
 * Decides whether a tool may be called (S4): the one place that reads the setting `mcpToolsets.toolPermissions`, and the
 * one that asks a person about a call.
 *
 * Invariants: every call passes `permit` before it goes to a server, and a person is asked about it at most once, here
 * or (`consented`) in the chat of `@minds`; one question stands at a time; a call that is no longer waited for withdraws its
 * question: the next one is asked at once, and a late answer counts for nothing; what was allowed for a conversation is allowed there, for that tool of that server under that name, until the
 * host ends or the setting changes.
 */
import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { abortSignalOf, type CancelSignal } from '../base/cancellation.js';
import { Emitter, unlessAborted } from '../base/events.js';
import type { ToolsetCall } from '../protocol/request.js';
import type { ServedTool } from '../tools/catalogue.js';
import {
  compilePermissions,
  permissionOf,
  type PermissionRules,
  type PermissionVerdict,
  type ToolNames,
} from '../tools/permissions.js';
import { adminNames } from './admin.js';

/** A call about which a person is asked. */
export interface CallQuestion {
  readonly toolset: string;
  /** The conversation that asks, unless the question stands in its own chat. */
  readonly conversation?: string;
  /** The published name. */
  readonly tool: string;
  /** The title that the server gives the tool, if it does. */
  readonly title: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
}

export type CallAnswer = 'no' | 'once' | 'inConversation';

export interface PermissionDeps {
  /** Returns the values of the setting, one for each place where it can be set, the person's own first. */
  readonly settings: () => readonly unknown[];
  /**
   * Resolves when the person has answered; to close the question is `no`, and so is a rejection. The signal aborts when
   * the call is no longer waited for: the question is to go, as far as it can, and its answer is not waited for.
   */
  readonly ask: (question: CallQuestion, signal: AbortSignal) => PromiseLike<CallAnswer>;
}

interface NamedTool {
  readonly toolset: string;
  /** The published name. */
  readonly name: string;
  readonly original: string;
}

/** A tool as `@minds` has it. */
interface ToolInChat extends NamedTool {
  readonly annotations?: ToolAnnotations | undefined;
}

const allowEverything: PermissionDeps = { settings: () => [], ask: () => Promise.resolve('no') };

export class Permission {
  private readonly changes = new Emitter<void>();
  private rules: PermissionRules;
  /** The tools that were allowed for a conversation, by `toolKey`. */
  private readonly allowed = new Set<string>();
  private last: Promise<unknown> = Promise.resolve();

  /** Fires when tools may be denied that were not, or the other way round. */
  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: PermissionDeps = allowEverything) {
    this.rules = compilePermissions(deps.settings());
  }

  /** Returns the verdict of the setting about a tool. A denied tool is not published. */
  readonly verdictOf = (tool: ToolNames): PermissionVerdict => permissionOf(tool, this.rules);

  /**
   * Says whether this call may be made: at once where nobody has to be asked, otherwise when the person has answered or
   * the call is no longer waited for, which is a no. Never rejects.
   */
  permit(served: ServedTool, call: ToolsetCall): true | Promise<boolean> {
    const isAsked = call.isPromised || permissionOf(served, this.rules).permission === 'ask';
    if (call.consented !== undefined || !isAsked) return true;
    const { published, original, tool } = served;
    const { toolset, arguments: given, conversation, signal } = call;
    const title = tool.title ?? tool.annotations?.title;
    const question: CallQuestion = { toolset, conversation, tool: published, title, arguments: given };
    const key = toolKey(conversation, { toolset, original, name: published });
    const answer = this.last.then(() => this.ask(question, key, signal)).catch(() => false);
    this.last = answer;
    return unlessAborted(answer, signal).catch(() => false);
  }

  /**
   * Says whether `@minds` asks in the chat before it calls a tool. It follows the editor, which asks unless a tool only
   * reads, if no rule says otherwise. A rule that allows a tool counts only if it is the person's own, and if the original
   * name is allowed too, because a workspace must not answer for them: it needs no approval to give a tool a name. The
   * host's own tools need no question, nor does what was allowed in that chat.
   */
  isAskedInChat(conversation: string, tool: ToolInChat): boolean {
    if (this.allowed.has(toolKey(conversation, tool))) return false;
    const { name, original, annotations } = tool;
    if (permissionOf({ original, published: name }, this.rules).permission !== 'allow') return true;
    const [own = []] = this.rules;
    if ([name, original].every((one) => own.some(({ pattern }) => pattern.matches(one)))) return false;
    return annotations?.readOnlyHint !== true && !adminNames.has(name);
  }

  /** Takes note that the person allowed a tool in a chat of `@minds`. */
  allowInChat(conversation: string, tool: ToolInChat): void {
    this.allowed.add(toolKey(conversation, tool));
  }

  /** Has to be called when the setting changed. */
  recheck(): void {
    this.rules = compilePermissions(this.deps.settings());
    this.allowed.clear();
    this.changes.fire();
  }

  dispose(): void {
    this.changes.dispose();
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
 * Returns the key of what a person allowed in a conversation. A tool is its server and both its names: an edit gives a name to
 * another tool, and no approval is needed for that.
 */
function toolKey(conversation: string, { toolset, original, name }: NamedTool): string {
  return JSON.stringify([conversation, toolset, original, name]);
}
