/**
 * Keeps the input and the output of calls as documents, which lines of the chat open. They stay in memory until the window closes.
 * The oldest are dropped first.
 */
import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposables.js';
import type { ToolCall, ToolResult } from '../../core/minds/model.js';
import { ReadOnlyDocuments } from '../views/review/readOnlyDocuments.js';
import { callPage } from './callPage.js';

export class CallPages implements Disposable {
  private readonly documents = new ReadOnlyDocuments({
    // `package.json` opens documents of this scheme as rendered Markdown.
    scheme: 'mcp-toolsets-call',
    gone: 'The input and output of this call are no longer kept.\n',
    most: 500,
  });

  keep(call: ToolCall, result: ToolResult, redact: (text: string) => string): vscode.Uri {
    const page = callPage(call, result, { redact, uriOf: (file) => vscode.Uri.file(file).toString() });
    // The chat shows the last segment of the path, so this is the name of the tool.
    return this.documents.add(call.tool.replace(/[^\w-]/g, '_'), page.value);
  }

  dispose(): void {
    this.documents.dispose();
  }
}
