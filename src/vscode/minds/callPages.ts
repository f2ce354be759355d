/**
 * What went into a call and what came out, as documents that a line of the chat opens. Kept for the calls of this window,
 * the oldest go first; nothing is written to a disk.
 */
import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposables.js';
import type { ToolCall, ToolResult } from '../../core/dialog/model.js';
import { callPage } from './callPage.js';

/** As in `package.json`, which shows these documents as Markdown. */
const scheme = 'mcp-toolsets-call';
const mostPages = 500;

export class CallPages implements Disposable {
  private readonly pages = new Map<string, string>();
  private readonly registration: vscode.Disposable;
  private last = 0;

  constructor() {
    this.registration = vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: ({ path }) =>
        this.pages.get(path) ?? 'What went in and out of a call is kept until the window closes; this one is older.\n',
    });
  }

  /** @param redact what may be shown of a text */
  keep(call: ToolCall, result: ToolResult, redact: (text: string) => string): vscode.Uri {
    // The chat shows what is behind the last slash: the name of the tool as it is.
    const path = `/${++this.last}/${call.tool.replace(/[^\w-]/g, '_')}`;
    this.pages.set(path, redact(callPage(call, result, (file) => vscode.Uri.file(file).toString())));
    const [oldest] = this.pages.keys();
    if (this.pages.size > mostPages && oldest !== undefined) this.pages.delete(oldest);
    return vscode.Uri.from({ scheme, path });
  }

  dispose(): void {
    this.registration.dispose();
  }
}
