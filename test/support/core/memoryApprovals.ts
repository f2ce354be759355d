/** Approvals in memory. Two ledgers of one store act as two processes. */
import { Emitter } from '../../../src/core/base/events.js';
import type { ApprovalStore } from '../../../src/core/approval/ledger.js';

export class MemoryApprovals implements ApprovalStore {
  readonly path: string = '/home/me/.minds/approvals.json';
  private readonly changes = new Emitter<void>();
  readonly onDidChange = this.changes.event;

  constructor(public text: string | undefined = undefined) {}

  /** The approvals in their stored form. */
  get all(): readonly unknown[] {
    return (JSON.parse(this.text ?? '{}') as { approvals?: unknown[] }).approvals ?? [];
  }

  get content(): ApprovalStore['content'] {
    return this.text === undefined ? { kind: 'absent' } : { kind: 'text', text: this.text };
  }

  open(): Promise<void> {
    this.changes.fire();
    return Promise.resolve();
  }

  change(edit: (text: string | undefined) => string): Promise<void> {
    this.text = edit(this.text);
    this.changes.fire();
    return Promise.resolve();
  }
}
