/** Keeps the pages of calls as documents, until the window closes. The oldest are dropped first. */
import type * as vscode from 'vscode';
import type { CallFact } from '../../../core/calls/fact.js';
import type { EngineSlot } from '../../engine/engineSlot.js';
import { ReadOnlyDocuments } from '../review/readOnlyDocuments.js';
import { callPage } from './callPage.js';

export class CallPages extends ReadOnlyDocuments {
  constructor(private readonly slot: EngineSlot) {
    // `package.json` opens documents of this scheme as rendered Markdown.
    const gone = 'The input and output of this call are no longer kept.\n';
    super({ scheme: 'mcp-toolsets-call', gone, most: 500 });
  }

  of(fact: CallFact): vscode.Uri {
    const content = this.slot.engine?.recorder.contents.get(fact);
    // The chat shows the last segment of the path, so this is the name of the tool.
    return this.add(fact.tool.replace(/[^\w-]/g, '_'), callPage(fact, content, this.slot.redact).value);
  }
}
