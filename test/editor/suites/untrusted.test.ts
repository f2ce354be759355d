/** An untrusted workspace starts and reads nothing (S1). */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { processes } from '../../support/editor/bridge.ts';
import { problems, toolIds } from '../../support/editor/product.ts';

describe('an untrusted workspace', () => {
  it('An untrusted workspace starts nothing, publishes nothing, reports nothing', async () => {
    assert.equal(vscode.workspace.isTrusted, false);
    const extension = vscode.extensions.getExtension('minds.mcp-toolsets');
    await extension?.activate();
    assert.deepEqual(await processes(), []);
    assert.deepEqual(toolIds(), []);
    assert.deepEqual(await problems(), []);
    // It is not available to other agents either, whatever the settings say.
    await assert.rejects(fetch('http://127.0.0.1:47427/'));
    assert.ok(!existsSync(join(homedir(), '.minds')));
  });
});
