import assert from 'node:assert/strict';
import { keys, keysOf, suggestKey, type KeyLevel } from '../../../src/core/config/keys.js';

describe('the nearest known key (C3)', () => {
  const cases: readonly [KeyLevel, string, string | undefined][] = [
    ['server', 'truly-stateless', 'truely-stateless'],
    ['server', 'truely_stateless', 'truely-stateless'],
    ['server', 'trulyStateless', 'truely-stateless'],
    ['server', 'stateless', 'stateless'],
    ['server', 'state-less', 'stateless'],
    ['server', 'isStateless', 'stateless'],
    ['server', 'comand', 'command'],
    ['server', 'commnad', 'command'],
    ['server', 'cmd', 'command'],
    ['server', 'cdw', 'cwd'],
    ['server', 'ENV', 'env'],
    ['server', 'sessionID', 'sessionId'],
    ['server', 'session_id', 'sessionId'],
    ['server', 'header', 'headers'],
    ['server', 'tranport', 'transport'],
    ['server', 'type', 'transport'],
    ['server', 'disabled', undefined],
    ['server', 'colour', undefined],
    ['server', '', undefined],
    ['server', '__proto__', undefined],
    ['server', 'constructor', undefined],
    ['server', 'x'.repeat(100_000), undefined],
    ['root', 'mcpServers', 'servers'],
    ['root', 'Version', 'version'],
    ['tools', 'white-list', 'whitelist'],
    ['timeouts', 'call_max', 'callMax'],
    ['reference', 'Env', 'env'],
  ];
  for (const [level, found, expected] of cases) {
    it(`${level}: ${found.slice(0, 20)} → ${expected ?? 'none'}`, () => {
      assert.equal(suggestKey(level, found), expected);
    });
  }

  it('a known key is nearest to itself', () => {
    for (const level of Object.keys(keys) as KeyLevel[]) {
      for (const key of keysOf(level)) assert.equal(suggestKey(level, key), key);
    }
  });
});
