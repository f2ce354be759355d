/** Keeps the pages of calls as documents, until the window closes. The oldest are dropped first. */
import type * as vscode from 'vscode';
import type { Disposable } from '../../../core/base/disposables.js';
import type { CallContent } from '../../../core/calls/contents.js';
import type { CallFact } from '../../../core/calls/fact.js';
import { ReadOnlyDocuments } from '../review/readOnlyDocuments.js';
import { callPage } from './callPage.js';

export class CallPages implements Disposable {
  private readonly documents = new ReadOnlyDocuments({
    // `package.json` opens documents of this scheme as rendered Markdown.
    scheme: 'mcp-toolsets-call',
    gone: 'The input and output of this call are no longer kept.\n',
    most: 500,
  });

  add(fact: CallFact, content: CallContent | undefined, redact: (text: string) => string): vscode.Uri {
    // The chat shows the last segment of the path, so this is the name of the tool.
    return this.documents.add(fact.tool.replace(/[^\w-]/g, '_'), callPage(fact, content, redact).value);
  }

  dispose(): void {
    this.documents.dispose();
  }
}
