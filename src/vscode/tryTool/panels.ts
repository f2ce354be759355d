/** Holds the open panels of *Try Tool*, one for each tool, and the documents in which their arguments are edited. */
import type { Disposable } from '../../core/base/disposables.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { ServedTool } from '../../core/tools/catalogue.js';
import type { OpenedApp } from '../../core/host/dialogTools.js';
import { AppPanel } from './appPanel.js';
import { ArgumentDocuments } from './argumentDocuments.js';
import { TrialPanel, type TrialPanelDeps } from './trialPanel.js';

export type TryToolDeps = Pick<TrialPanelDeps, 'slot' | 'extensionUri' | 'version'>;

export class Panels implements Disposable {
  private readonly documents = new ArgumentDocuments();
  private readonly open = new Map<string, TrialPanel>();
  private readonly apps = new Set<AppPanel>();

  constructor(private readonly deps: TryToolDeps) {}

  show({ id }: ServerStatus, { published }: ServedTool): void {
    const key = JSON.stringify([id, published]);
    const existing = this.open.get(key);
    if (existing) {
      existing.reveal();
      return;
    }
    const { deps, documents } = this;
    const onEnd = (): void => void this.open.delete(key);
    this.open.set(key, new TrialPanel({ ...deps, documents, server: id, published, onEnd }));
  }

  /** Shows the app of a result from elsewhere; resolves as `AppPanel.show` does. */
  showApp(app: OpenedApp): Promise<string | undefined> {
    const panel: AppPanel = new AppPanel(this.deps, () => this.apps.delete(panel));
    this.apps.add(panel);
    return panel.show(app);
  }

  dispose(): void {
    for (const panel of [...this.apps, ...this.open.values()]) panel.dispose();
    this.documents.dispose();
  }
}
