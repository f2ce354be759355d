/** Holds the open panels of *Try Tool*, one for each tool, and the documents of their arguments. */
import type * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposables.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { ServedTool } from '../../core/tools/catalogue.js';
import type { OpenedApp } from '../../core/host/conversationTools.js';
import { AppPanel } from './appPanel.js';
import { ArgumentDocuments } from './argumentDocuments.js';
import { TrialPanel, type TrialPanelDeps } from './trialPanel.js';
import type { KeptTrial } from '../../webview/messages.js';

export type TryToolDeps = Pick<TrialPanelDeps, 'slot' | 'extensionUri' | 'version'>;

export class Panels implements Disposable {
  private readonly documents = new ArgumentDocuments();
  private readonly open = new Map<string, TrialPanel>();
  private readonly apps = new Set<AppPanel>();

  constructor(private readonly deps: TryToolDeps) {}

  /** @param given the arguments of an earlier call, to be tried again */
  show({ id }: ServerStatus, { published }: ServedTool, given: TrialPanelDeps['given']): void {
    const existing = this.open.get(keyOf(id, published));
    if (existing) existing.reveal(given);
    else this.add({ server: id, published, given });
  }

  async revive(panel: vscode.WebviewPanel, kept: KeptTrial | undefined): Promise<void> {
    await this.documents.closeLost();
    if (!kept || this.open.has(keyOf(kept.server, kept.published))) panel.dispose();
    else this.add({ server: kept.server, published: kept.published, kept: { panel, document: kept.document } });
  }

  private add(trial: Pick<TrialPanelDeps, 'server' | 'published' | 'kept' | 'given'>): void {
    const key = keyOf(trial.server, trial.published);
    const onEnd = (): void => void this.open.delete(key);
    this.open.set(key, new TrialPanel({ ...this.deps, ...trial, documents: this.documents, onEnd }));
  }

  /** Shows the app of a result in the chat. Resolves as `AppPanel.show` does. */
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

function keyOf(server: string, published: string): string {
  return JSON.stringify([server, published]);
}
