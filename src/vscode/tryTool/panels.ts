/** Holds the open panels of *Try Tool*, one for each tool, and the documents in which their arguments are edited. */
import { type Disposable, DisposableStore } from '../../core/base/disposables.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { ServedTool } from '../../core/tools/catalogue.js';
import { ArgumentDocuments } from './argumentDocuments.js';
import { TrialPanel, type TrialPanelDeps } from './trialPanel.js';

export type TryToolDeps = Pick<TrialPanelDeps, 'slot' | 'extensionUri'>;

export class Panels implements Disposable {
  private readonly store = new DisposableStore('trial panels');
  private readonly documents = this.store.add(new ArgumentDocuments());
  private readonly open = new Map<string, TrialPanel>();

  constructor(private readonly deps: TryToolDeps) {}

  show({ id }: ServerStatus, { published }: ServedTool): void {
    const key = JSON.stringify([id, published]);
    const existing = this.open.get(key);
    if (existing) {
      existing.reveal();
      return;
    }
    const panel = this.store.add(
      new TrialPanel({
        ...this.deps,
        documents: this.documents,
        server: id,
        published,
        onEnd: () => this.open.delete(key),
      }),
    );
    this.open.set(key, panel);
  }

  dispose(): void {
    this.store.dispose();
  }
}
