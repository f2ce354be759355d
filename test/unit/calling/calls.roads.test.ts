/**
 * The roads by which a call of a tool reaches a server. `test/integration/core/roads.test.ts` takes
 * each of them with a denied call.
 */
import assert from 'node:assert/strict';
import { modules } from '../modules.js';

const filesWith = (pattern: RegExp): string[] =>
  modules
    .filter(({ text }) => pattern.test(text))
    .map(({ file }) => file.replace('src/', ''))
    .sort();

describe('the roads of a call of a tool (S4)', () => {
  it('Only `calling/calls`, which asks the permission first, sends a call to an instance, and only an instance to its connection', () => {
    assert.deepEqual(filesWith(/\bpool\.call\(/), ['core/calling/calls.ts']);
    assert.deepEqual(filesWith(/\bconnection\.callTool\(/), ['core/instances/instance.ts']);
    assert.deepEqual(filesWith(/\bcallAdminTool\(admin\b/), ['core/calling/calls.ts']);
    assert.deepEqual(filesWith(/\bpermission\.(?:permit|judge)\(/), ['core/calling/calls.ts']);
  });

  it('Every road is known: the gateway, `@minds`, the command line, and *Try Tool* with its apps', () => {
    assert.deepEqual(filesWith(/\bhost\.call\(/), [
      'cli/offersCommands.ts',
      'core/calling/conversationTools.ts',
      'core/calling/gatewayBackend.ts',
      'vscode/tryTool/panels.ts',
    ]);
    assert.deepEqual(filesWith(/\bbackend\.callTool\(/), ['core/gateway/methods/toolCalls.ts']);
  });
});
