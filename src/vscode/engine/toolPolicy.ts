/**
 * The setting `mcpToolsets.toolPermissions` as the core asks for it (S4), and what a person answered. Does not import
 * `vscode`; loaded with the engine, because it brings the matching of patterns along.
 *
 * Invariants: one question stands at a time; a call that is no longer waited for is not asked about; what was allowed for
 * a conversation is allowed there, for that tool, until the window ends or the setting changes.
 */
import { Emitter } from '../../core/base/events.js';
import {
  compilePermissions,
  permissionOf,
  type PermissionRules,
  type PermissionVerdict,
  type ToolPolicy,
  type ToolQuestion,
} from '../../core/tools/permissions.js';

export type CallAnswer = 'no' | 'once' | 'inConversation';

export interface ToolPolicyOptions {
  /** Values of the setting, one for each place where it can be set. */
  readonly permissions: () => readonly unknown[];
  /** Resolves when the person has answered; closing the question is `no`. */
  readonly ask: (question: ToolQuestion) => PromiseLike<CallAnswer>;
}

export class PersonToolPolicy implements ToolPolicy {
  private readonly changes = new Emitter<void>();
  private rules: PermissionRules;
  /** Tools that were allowed for a dialog. */
  private readonly allowed = new Set<string>();
  private last: Promise<unknown> = Promise.resolve();

  readonly onDidChange = this.changes.event;

  constructor(private readonly options: ToolPolicyOptions) {
    this.rules = compilePermissions(options.permissions());
  }

  judge(published: string): PermissionVerdict {
    return permissionOf(published, this.rules);
  }

  ask(question: ToolQuestion): Promise<boolean> {
    const answer = this.last.then(() => this.answer(question)).catch(() => false);
    this.last = answer;
    return unlessAborted(question.signal, answer);
  }

  /** The setting changed. */
  recheck(): void {
    this.rules = compilePermissions(this.options.permissions());
    this.allowed.clear();
    this.changes.fire();
  }

  dispose(): void {
    this.changes.dispose();
  }

  private async answer(question: ToolQuestion): Promise<boolean> {
    if (question.signal.aborted) return false;
    const call = JSON.stringify([question.dialog, question.tool]);
    if (this.allowed.has(call)) return true;
    const answer = await this.options.ask(question);
    if (answer === 'inConversation') this.allowed.add(call);
    return answer !== 'no';
  }
}

function unlessAborted(signal: AbortSignal, answer: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const give = (allowed: boolean): void => {
      signal.removeEventListener('abort', refuse);
      resolve(allowed && !signal.aborted);
    };
    const refuse = (): void => give(false);
    signal.addEventListener('abort', refuse);
    if (signal.aborted) refuse();
    void answer.then(give);
  });
}
