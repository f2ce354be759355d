/**
 * Judges tools by the setting `mcpToolsets.toolPermissions` (S4) and remembers what a person answered. Does not import
 * `vscode`. It is loaded with the engine, because it depends on the matching of patterns.
 *
 * Invariants: at most one question is open at a time. Nobody is asked about a call that is no longer waited for. A tool that
 * was allowed for a conversation stays allowed there until the window ends or the setting changes.
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
  /** Returns the values of the setting, one for each scope in which it can be set. */
  readonly permissions: () => readonly unknown[];
  /** Resolves when the person has answered. Closing the question means `no`. */
  readonly ask: (question: ToolQuestion) => PromiseLike<CallAnswer>;
}

export class PersonToolPolicy implements ToolPolicy {
  private readonly changes = new Emitter<void>();
  private rules: PermissionRules;
  /** The tools that were allowed for a dialog. */
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

  /** Has to be called when the setting has changed. */
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
