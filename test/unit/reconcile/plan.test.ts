/** The effect of a missing approval on an edit, as data (S1). */
import assert from 'node:assert/strict';
import { parseMindsFile } from '../../../src/core/config/read/parse.js';
import type { ConfiguredServer, ServerDefinition } from '../../../src/core/config/model.js';
import {
  approvalOf,
  diverges,
  planStep,
  startableDefinition,
  type Asked,
  type Running,
  type Step,
} from '../../../src/core/reconcile/plan.js';

function server(entry: string): ConfiguredServer {
  const text = `version: 1\nservers:\n  a: { transport: stdio, ${entry} }\n`;
  const parsed = parseMindsFile(
    { file: '/ws/f', folder: '/ws', text },
    { env: {}, directoryExists: () => true },
  );
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
  const rows: [
    string,
    ConfiguredServer | undefined,
    Partial<Running>,
    boolean,
    boolean,
    Step['kind'],
  ][] = [
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
    [
      'a changed server that may not',
      server('command: new'),
      { serving: old },
      false,
      true,
      'hold',
    ],
    [
      'a changed server while the old one starts',
      server('command: new'),
      { starting: old },
      false,
      true,
      'hold',
    ],
    [
      'a filter of a server that may run',
      server('command: old, tools: { whitelist: [x] }'),
      { serving: old },
      true,
      true,
      'recurate',
    ],
    [
      'the same launch that may no longer run',
      server('command: old'),
      { serving: old },
      false,
      false,
      'revoke',
    ],
    [
      'neither the new nor the old may run',
      server('command: new'),
      { serving: old },
      false,
      false,
      'revoke',
    ],
    [
      'the new may run, the old no longer',
      server('command: new'),
      { serving: old },
      true,
      false,
      'start',
    ],
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
    [
      'a stopped server with another launch',
      server('command: new'),
      { stopped: old },
      true,
      true,
      'start',
    ],
    [
      'a stopped server with another filter',
      server('command: old, tools: { whitelist: [x] }'),
      { stopped: old },
      true,
      true,
      'start',
    ],
    ['the launch that starts', server('command: old'), { starting: old }, true, true, 'redirect'],
  ];
  for (const [what, wanted, running, mayWanted, mayServing, kind] of rows) {
    it(`${what}: ${kind}`, () => {
      const step = planStep(
        wanted,
        { ...idle, ...running },
        { wanted: mayWanted, serving: mayServing },
      );
      assert.equal(step.kind, kind);
    });
  }
});

describe('approvals and starts (S1)', () => {
  /** Everything but `old` waits for approval. */
  const judge: Asked['judge'] = (of) =>
    of.launchHash === old.launchHash
      ? { kind: 'approved' }
      : { kind: 'pending', launch: { server: 'a', source: '/ws/f', parts: [], fingerprint: 'f' } };
  const [wrong, pending, off] = [
    server('command: 1'),
    server('command: new'),
    server('command: new, enabled: false'),
  ];

  it('a start by a person starts the definition of the file, or the serving one if the file is wrong or waits', () => {
    const started = (wanted: ConfiguredServer | undefined, serving?: ServerDefinition): unknown =>
      startableDefinition({ judge, wanted, serving })?.launchHash;
    assert.equal(started(server('command: old')), old.launchHash);
    assert.equal(started(pending, old), old.launchHash);
    assert.equal(started(pending), undefined);
    assert.equal(started(wrong, old), old.launchHash);
    assert.equal(started(off, old), undefined);
    assert.equal(started(undefined, old), undefined);
  });

  it('a definition that is not going to start needs no question', () => {
    const asked = (
      wanted: ConfiguredServer | undefined,
      serving?: ServerDefinition,
      stopped = false,
    ): string => approvalOf({ judge, wanted, serving }, stopped).kind;
    assert.equal(asked(pending), 'pending');
    assert.equal(asked(pending, undefined, true), 'notAsked');
    assert.equal(asked(off), 'notAsked');
    assert.equal(asked(wrong), 'notAsked');
    assert.equal(asked(wrong, old), 'approved');
    assert.equal(asked(server('command: old, enabled: false')), 'approved');
  });

  it('a definition diverges if launch or filters differ, or the entry is wrong', () => {
    const rows = [
      'command: old',
      'command: new',
      'command: old, tools: { whitelist: [x] }',
      'command: 1',
    ];
    assert.deepEqual(
      rows.map((entry) => diverges(server(entry), old)),
      [false, true, true, true],
    );
    assert.equal(diverges(server('command: new'), undefined), false);
    assert.equal(diverges(undefined, old), false);
  });
});
