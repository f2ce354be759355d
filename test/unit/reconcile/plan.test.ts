/** What a missing approval makes of an edit, as data (S1, R3). */
import assert from 'node:assert/strict';
import { parseMindsFile } from '../../../src/core/config/parse.js';
import type { ConfiguredServer, ServerDefinition } from '../../../src/core/config/model.js';
import { planStep, type Running, type Step } from '../../../src/core/reconcile/plan.js';

function server(entry: string): ConfiguredServer {
  const text = `version: 1\nservers:\n  a: { transport: stdio, ${entry} }\n`;
  const parsed = parseMindsFile({ file: '/ws/f', folder: '/ws', text }, { env: {}, directoryExists: () => true });
  const [first] = parsed.kind === 'accepted' ? parsed.servers : [];
  assert.ok(first);
  return first;
}

const definition = (entry: string): ServerDefinition => {
  const wanted = server(entry);
  assert.ok(wanted.kind === 'valid');
  return wanted.definition;
};

const idle: Running = { serving: undefined, starting: undefined, stopped: undefined };
const old = definition('command: old');

describe('plan with approvals (S1)', () => {
  const rows: [string, ConfiguredServer | undefined, Partial<Running>, boolean, boolean, Step['kind']][] = [
    ['a new server that may start', server('command: new'), {}, true, true, 'start'],
    [
      'a wrong entry that is switched off',
      server('comand: x, enabled: false'),
      { serving: old },
      true,
      true,
      'withdraw',
    ],
    ['a new server that may not', server('command: new'), {}, false, true, 'hold'],
    ['a changed server that may not', server('command: new'), { serving: old }, false, true, 'hold'],
    ['a changed server while the old one starts', server('command: new'), { starting: old }, false, true, 'hold'],
    [
      'a filter of a server that may run',
      server('command: old, tools: { whitelist: [x] }'),
      { serving: old },
      true,
      true,
      'recurate',
    ],
    ['the same launch that may no longer run', server('command: old'), { serving: old }, false, false, 'revoke'],
    ['neither the new nor the old may run', server('command: new'), { serving: old }, false, false, 'revoke'],
    ['the new may run, the old no longer', server('command: new'), { serving: old }, true, false, 'start'],
    ['an entry with an error', server('command: 1'), { serving: old }, true, true, 'keepPrevious'],
    [
      'an entry with an error, the old may no longer run',
      server('command: 1'),
      { serving: old },
      true,
      false,
      'revoke',
    ],
    [
      'a disabled server that may not start',
      server('command: old, enabled: false'),
      { serving: old },
      false,
      false,
      'withdraw',
    ],
    ['a removed server', undefined, { serving: old }, false, false, 'withdraw'],
    ['a stopped server', server('command: old'), { stopped: old }, false, true, 'none'],
  ];
  for (const [what, wanted, running, mayWanted, mayServing, kind] of rows) {
    it(`${what}: ${kind}`, () => {
      const step = planStep(wanted, { ...idle, ...running }, { wanted: mayWanted, serving: mayServing });
      assert.equal(step.kind, kind);
    });
  }
});
