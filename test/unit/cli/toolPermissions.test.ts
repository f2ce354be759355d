/** Permissions of the command line (S4). */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PersonsPermissions } from '../../../src/cli/toolPermissions.js';
import {
  compilePermissions,
  permissionOf,
  toolPermissions,
} from '../../../src/core/tools/permissions.js';

describe('permissions of the command line (S4)', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-home-'));
    mkdirSync(path.join(home, '.minds'));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  async function permission(
    own: object,
    options: Parameters<typeof PersonsPermissions.read>[1],
    tightens: boolean,
  ): Promise<string> {
    writeFileSync(path.join(home, '.minds', 'permissions.json'), JSON.stringify(own));
    const read = await PersonsPermissions.read(home, options, tightens);
    assert.ok(typeof read !== 'string', JSON.stringify(read));
    return permissionOf({ original: 'rm', published: 'x_rm' }, compilePermissions(read.rules))
      .permission;
  }

  it('an option of `connect` never loosens a rule of the person, whatever patterns they have', async () => {
    const patterns = ['*', 'x_*', '*rm', 'x_rm', 'rm'];
    for (const [index, own] of toolPermissions.entries())
      for (const [given, option] of toolPermissions.entries())
        for (const theirs of patterns)
          for (const pattern of patterns) {
            const verdict = await permission({ [theirs]: own }, { [option]: [pattern] }, true);
            const strictest = toolPermissions[Math.max(index, given)];
            assert.equal(verdict, strictest, `${theirs}: ${own}, --${option} ${pattern}`);
          }
  });

  it('in other commands, the option wins for the same pattern', async () => {
    assert.equal(
      await permission({ x_rm: 'deny', rm: 'deny' }, { allow: ['x_rm', 'rm'] }, false),
      'allow',
    );
    assert.equal(await permission({ x_rm: 'allow' }, { deny: ['x_rm'] }, false), 'deny');
  });
});
