/** A switch of the editor that takes toolsets away and gives them back (E1, G3a): the Problems view names it. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { untilProblems, untilTools } from '../../support/editor/product.ts';

const shown = ['mcp_alpha_echo'];

async function setAccess(value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration('chat').update('mcp.access', value, vscode.ConfigurationTarget.Global);
}

describe('toolsets that a switch of the editor takes away', () => {
  before(() => untilTools(shown));

  it('are a problem that names it, and come back with it', async () => {
    await setAccess('none');
    await untilTools([]);
    const [problem] = await untilProblems(['editor-toolset-hidden alpha']);
    assert.match(problem?.message ?? '', /"chat\.mcp\.access" is "none"/);
    await setAccess(undefined);
    await untilTools(shown);
    await untilProblems([]);
  });
});
