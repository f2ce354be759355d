/**
 * A switch of the editor that removes toolsets and restores them. The Problems view names it (E1).
 */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { untilProblems, untilTools } from '../../support/editor/product.ts';

const shown = ['mcp_alpha_echo'];

async function setAccess(value: unknown): Promise<void> {
  await vscode.workspace
    .getConfiguration('chat')
    .update('mcp.access', value, vscode.ConfigurationTarget.Global);
}

describe('toolsets behind a switch of the editor', () => {
  before(() => untilTools(shown));

  it('Toolsets removed by a switch are a problem with its name, and come back with the switch', async () => {
    await setAccess('none');
    await untilTools([]);
    const [problem] = await untilProblems(['editor-toolset-hidden alpha']);
    assert.match(problem?.message ?? '', /"chat\.mcp\.access" is "none"/);
    await setAccess(undefined);
    await untilTools(shown);
    await untilProblems([]);
  });
});
