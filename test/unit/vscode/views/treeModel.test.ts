import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ServerState } from '../../../../src/core/reconcile/status.js';
import type { ExclusionReason } from '../../../../src/core/tools/catalogue.js';
import { read } from '../../../support/markdown.js';
import { showsAges, treeModel } from '../../../../src/vscode/views/treeModel.js';
import type { TreeNode } from '../../../../src/vscode/views/treeNode.js';
import { file, problem, servedTool, snapshot, status } from './statuses.js';

const around = {
  now: 0,
  fileLabel: (path: string) => path.replace('/folder/', ''),
  folderLabel: (path: string) => path.split('/')[1] ?? '',
};

function only(nodes: readonly TreeNode[]): TreeNode {
  assert.equal(nodes.length, 1);
  return nodes[0] as TreeNode;
}

function serverRow(changes: Parameters<typeof status>[1]): TreeNode {
  return only(treeModel(snapshot([status('demo', changes)]), around));
}

describe('treeModel', () => {
  it('lists servers in file order', () => {
    const nodes = treeModel(snapshot([status('b'), status('a')]), around);
    assert.deepEqual(
      nodes.map(({ label }) => label),
      ['b', 'a'],
    );
  });

  const states: [ServerState, string, string][] = [
    [{ kind: 'disabled' }, 'disabled · stdio', 'server'],
    [{ kind: 'invalid' }, 'entry with errors · stdio', 'server'],
    [{ kind: 'starting', since: 0 }, 'starting… · stdio', 'server stoppable'],
    [{ kind: 'running', since: 0 }, '0 tools · agents get nothing · stdio', 'server stoppable restartable'],
    [{ kind: 'idle', since: 0 }, 'idle · agents get nothing · stdio', 'server startable stoppable restartable'],
    [
      { kind: 'reconnecting', attempt: 2, at: 0, cause: 'x' },
      'reconnecting, attempt 2 · stdio',
      'server stoppable restartable',
    ],
    [
      { kind: 'failed', since: 0, reason: 'exited with code 3: no config\nCommand: `x`.', fix: 'look' },
      'exited with code 3: no config · stdio',
      'server startable failed',
    ],
    [{ kind: 'stopped', since: 0 }, 'stopped · stdio', 'server startable'],
  ];
  for (const [state, description, context] of states) {
    it(`says ${state.kind} in words and offers what is possible`, () => {
      const row = serverRow({ state });
      assert.equal(row.description, description);
      assert.equal(row.context, `${context} ${state.kind === 'disabled' ? 'disabled' : 'enabled'}`);
      assert.ok(row.icon.id);
    });
  }

  it('says how old remembered tools are, and whether their server starts meanwhile (P8)', () => {
    const row = (state: ServerState, age: number): TreeNode =>
      serverRow({ state, tools: [servedTool('a')], offered: 1, rememberedAt: -age });
    const hour = 3_600_000;
    const later = row({ kind: 'remembered', since: -2 * hour }, 2 * hour);
    assert.equal(later.description, '1 tool · not started · remembered, 2 h old · ~18 tokens · stdio');
    assert.equal(later.context, 'server startable stoppable restartable enabled');
    const starting = row({ kind: 'starting', since: 0 }, 49 * hour);
    assert.equal(starting.description, '1 tool · starting… · remembered, 2 d old · ~18 tokens · stdio');
    for (const { tooltip } of [later, starting]) {
      assert.match(read(tooltip), /remembered.* from .*A call waits until its server has started/);
    }
  });

  it('counts the tools that are published, of those offered', () => {
    assert.equal(serverRow({ tools: [servedTool('a')], offered: 3 }).description, '1 of 3 tools · ~18 tokens · stdio');
    assert.equal(serverRow({ tools: [servedTool('a')], offered: 1 }).description, '1 tool · ~18 tokens · stdio');
    const idle = serverRow({ tools: [servedTool('a')], offered: 3, state: { kind: 'idle', since: 0 } });
    assert.equal(idle.description, '1 of 3 tools · idle · ~18 tokens · stdio');
  });

  it('names where a server comes from that is not of the one file, and what it shadows', () => {
    assert.doesNotMatch(serverRow({}).description, /folder|user|mcprc/);
    assert.match(serverRow({ origin: 'user' }).description, /· user$/);
    const source = '/folder/.mcprc';
    assert.match(serverRow({ origin: 'mcprc', source }).description, /· \.mcprc$/);
    const shadowed = { file: source, range: { start: { line: 1, character: 2 }, end: { line: 1, character: 5 } } };
    const row = only(serverRow({ shadows: [shadowed] }).children);
    assert.deepEqual([row.label, row.description, row.place], ['also in .mcprc', 'shadowed', shadowed]);
  });

  const lacking: [string, Parameters<typeof status>[1], string][] = [
    ['agents get nothing', { offered: 3 }, 'agents get nothing'],
    [
      'names and schemas leave tools out',
      {
        tools: [servedTool('a')],
        excluded: [
          { original: 'b', reason: { kind: 'originalNameInvalid' } },
          { original: 'c', reason: { kind: 'nameTaken', published: 'c', holder: 'other' } },
          { original: 'd', reason: { kind: 'blacklist', pattern: 'd' } },
        ],
      },
      '2 tools left out',
    ],
    [
      'the editor does not get a tool',
      { tools: [servedTool('a'), servedTool('b', { editorRefuses: { kind: 'idTooLong' } })] },
      '1 tool in the editor',
    ],
    [
      'changes are held back',
      {
        tools: [servedTool('a')],
        changedOffers: [{ launch: '', kind: 'tool', original: 'b', parts: ['description'], held: true }],
      },
      '1 change held back',
    ],
  ];
  for (const [what, changes, phrase] of lacking) {
    it(`a running server is a warning in icon and words if ${what}`, () => {
      const row = serverRow(changes);
      assert.equal(row.icon.id, 'warning');
      assert.ok(row.description.split(' · ').includes(phrase), row.description);
      assert.match(row.spoken ?? '', new RegExp(`^demo, server, running, warning, .*${phrase}`));
      const stopped = serverRow({ ...changes, state: { kind: 'stopped', since: 0 } });
      assert.equal(stopped.icon.id, 'circle-large-outline');
    });
  }

  it('a server whose tools the editor does not show is a warning', () => {
    const problems = [problem({ code: 'editor-toolset-hidden', severity: 'warning', server: 'demo', inEditor: 0 })];
    const row = only(treeModel(snapshot([status('demo', { tools: [servedTool('a')] })], { problems }), around));
    assert.equal(row.icon.id, 'warning');
    assert.match(row.description, /0 tools in the editor/);
  });

  it('a server that keeps tools out by its lists, or serves only prompts, is green', () => {
    const listed = { excluded: [{ original: 'b', reason: { kind: 'whitelist' } }], tools: [servedTool('a')] } as const;
    const prompts = [{ original: 'p', published: 'p', prompt: { name: 'p' } }];
    for (const changes of [listed, { prompts }]) assert.equal(serverRow(changes).icon.id, 'pass-filled');
  });

  it('says that a previous definition serves, since when and why', () => {
    const row = serverRow({ previous: { since: 0, reason: 'npx was not found' } });
    assert.match(row.description, /previous definition since \d/);
    assert.equal(row.icon.id, 'warning');
    assert.match(read(row.tooltip), /previous definition.*since .*npx was not found/);
  });

  it('gives reason and fix of a failure in the tooltip', () => {
    const { tooltip } = serverRow({ state: { kind: 'failed', since: 0, reason: 'exit *1*', fix: 'Install it.' } });
    assert.match(tooltip.value, /exit \\\*1\\\*/);
    assert.match(read(tooltip), /Install it/);
    assert.match(read(tooltip), /mcp\.yaml/);
  });

  it('names the folder only where there are several', () => {
    const other = status('b', { source: '/other/.minds/mcp.yaml' });
    const [row] = treeModel(snapshot([status('a'), other]), around);
    assert.match(row?.description ?? '', / · folder$/);
    assert.doesNotMatch(serverRow({}).description, /folder/);
  });

  it('shows published names, and original ones where they differ', () => {
    const [plain, renamed] = serverRow({
      tools: [servedTool('click'), servedTool('my_read', { original: 'read' })],
      offered: 2,
    }).children;
    assert.deepEqual([plain?.label, plain?.description], ['click', '']);
    assert.deepEqual([renamed?.label, renamed?.description, renamed?.name], ['my_read', 'read', 'my_read']);
  });

  it('marks a tool that the editor alone does not get (N7)', () => {
    const [row] = serverRow({
      tools: [servedTool('click', { editorRefuses: { kind: 'schema', detail: 'no items' } })],
    }).children;
    assert.equal(row?.description, 'not in the editor');
    assert.match(read(row?.tooltip ?? ''), /Not in this editor: .*no items/);
  });

  const reasons: [ExclusionReason, RegExp][] = [
    [{ kind: 'blacklist', pattern: '*_x' }, /blacklist: \*_x/],
    [{ kind: 'whitelist' }, /whitelist/],
    [{ kind: 'originalNameInvalid' }, /rule/],
    [{ kind: 'publishedNameInvalid', published: 'a b' }, /“a b”/],
    [{ kind: 'schema', detail: 'no items' }, /no items/],
    [{ kind: 'nameTaken', published: 'p', holder: 'h' }, /“p” belongs to h/],
    [{ kind: 'nameReserved', published: 'p' }, /built-in/],
    [{ kind: 'listedTwice' }, /more than once/],
  ];
  it('keeps what is left out in a group of its own, with the reason', () => {
    const excluded = reasons.map(([reason], index) => ({ original: `t${index}`, reason }));
    const group = only(serverRow({ excluded, offered: 8 }).children);
    assert.deepEqual([group.label, group.description], ['Kept out', '8']);
    group.children.forEach((row, index) => assert.match(row.description, reasons[index]?.[1] ?? /never/));
  });

  it('shows instances with their use', () => {
    const instance = { pid: 7, startedAt: 0, lastCallAt: undefined, callsInFlight: 1 };
    const group = only(
      serverRow({
        instances: [
          { ...instance, id: '1', use: { kind: 'warm' } },
          { ...instance, id: '2', use: { kind: 'leased', dialog: '0123456789', since: 0 } },
          { ...instance, id: '3', use: { kind: 'spare' } },
        ],
      }).children,
    );
    assert.deepEqual(
      group.children.map(({ label }) => label),
      ['ready', 'chat 01234567', 'spare'],
    );
    assert.deepEqual(
      group.children.map(({ context, dialog }) => [context, dialog]),
      [
        ['instance warm', undefined],
        ['instance leased', '0123456789'],
        ['instance spare', undefined],
      ],
    );
    assert.equal(group.children[0]?.description, '1 call running · <1 min old');
    assert.match(read(group.children[0]?.tooltip ?? ''), /process 7/);
    assert.match(read(group.children[2]?.tooltip ?? ''), /started ahead for the next conversation/);
  });

  it('says how old an instance is and how long idle', () => {
    const at = (minutes: number): number => -minutes * 60_000;
    const leased = { kind: 'leased', dialog: '0123456789', since: at(61) } as const;
    const instance = { id: '1', pid: undefined, startedAt: at(61), callsInFlight: 0, use: leased };
    const described = (lastCallAt: number | undefined): string | undefined =>
      only(serverRow({ instances: [{ ...instance, lastCallAt }] }).children).children[0]?.description;
    assert.equal(described(at(4)), 'idle 4 min · 1 h 1 min old');
    assert.equal(described(undefined), 'not called yet · 1 h 1 min old');
  });

  it('says to a screen reader what icons say', () => {
    assert.equal(serverRow({}).spoken, 'demo, server, running, warning, 0 tools, agents get nothing, stdio');
    const [tool] = serverRow({ tools: [servedTool('a', { original: 'b' })], offered: 1 }).children;
    assert.equal(tool?.spoken, 'a, tool, originally b');
    const excluded = [{ original: 't', reason: { kind: 'whitelist' } as const }];
    const group = only(serverRow({ excluded, offered: 1 }).children);
    assert.deepEqual([group.spoken, group.children[0]?.spoken], ['Kept out, 1', 't, kept out: not in the whitelist']);
  });

  it('says what a tool takes, what it does and how much of a request it is', () => {
    const tool = servedTool('a');
    const inputSchema = { type: 'object' as const, properties: { path: {}, depth: {} }, required: ['path'] };
    const described = { ...tool.tool, inputSchema, annotations: { readOnlyHint: true } };
    const [row] = serverRow({ tools: [{ ...tool, tool: described }], offered: 1 }).children;
    assert.match(read(row?.tooltip ?? ''), /Takes path, \[depth\]\n\n.*\n\nonly reads · ~\d+ tokens$/);
  });

  it('shows errors and warnings of a server first, and information not at all', () => {
    const problems = [
      problem({ server: 'demo' }),
      problem({ server: 'demo' }),
      problem({ server: 'demo', severity: 'information' }),
      problem({ server: 'other' }),
      problem(),
    ];
    const row = only(treeModel(snapshot([status('demo')], { problems }), around));
    assert.deepEqual(
      row.children.map(({ kind, label }) => `${kind} ${label}`),
      ['problem The variable is not set.', 'problem The variable is not set.'],
    );
    assert.equal(row.children[0]?.place, problems[0]?.place);
  });

  it('gives every row an id of its own that stays when others come and go', () => {
    const ids = (node: TreeNode): string[] => [node.id, ...node.children.flatMap(ids)];
    const row = serverRow({
      tools: [servedTool('a'), servedTool('b')],
      excluded: [
        { original: 'a', reason: { kind: 'whitelist' } },
        { original: 'a', reason: { kind: 'originalNameInvalid' } },
      ],
      offered: 4,
    });
    assert.equal(new Set(ids(row)).size, ids(row).length);
    const later = serverRow({ tools: [servedTool('b')], offered: 1 });
    assert.equal(later.id, row.id);
    assert.equal(later.children[0]?.id, row.children[1]?.id);
    assert.equal(row.id, `${file}#demo`);
  });

  it('is the same value for the same snapshot', () => {
    const one = snapshot([status('a', { tools: [servedTool('x')], offered: 2 })]);
    assert.deepEqual(treeModel(one, around), treeModel(one, around));
  });

  it('is known to become another where it says how old something is', () => {
    const instance = { id: 'i', pid: 1, startedAt: 0, lastCallAt: 0, callsInFlight: 0, use: { kind: 'warm' } } as const;
    const cases = [
      status('a', { instances: [instance] }),
      status('a', { state: { kind: 'remembered', since: 0 }, rememberedAt: 0 }),
      status('a', { state: { kind: 'idle', since: 0 } }),
    ];
    for (const server of cases) {
      const shown = snapshot([server]);
      const later = treeModel(shown, { ...around, now: around.now + 120_000 });
      assert.equal(showsAges(shown), !isDeepStrictEqual(treeModel(shown, around), later), server.state.kind);
    }
  });
});
