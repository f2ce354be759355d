import assert from 'node:assert/strict';
import chinese from '../../../../../l10n/bundle.l10n.zh-cn.json';
import type { ServerState } from '../../../../../src/core/reconcile/status.js';
import type { ExclusionReason } from '../../../../../src/core/tools/catalogue.js';
import type { Problem } from '../../../../../src/core/base/problem.js';
import { speak, type Bundle } from '../../../../../src/core/base/language.js';
import { FolderUse } from '../../../../../src/core/calls/counts.js';
import { read } from '../../../../support/markdown.js';
import { treeModel } from '../../../../../src/vscode/views/rows/serverRows.js';
import type { TreeNode, TreeOptions } from '../../../../../src/vscode/views/rows/treeNode.js';
import {
  file,
  problem,
  servedTool,
  snapshot,
  status,
  toolset,
  treeOptions as around,
} from '../statuses.js';

function only(nodes: readonly TreeNode[]): TreeNode {
  assert.equal(nodes.length, 1);
  return nodes[0] as TreeNode;
}

function serverRow(changes: Parameters<typeof status>[1]): TreeNode {
  return only(treeModel(snapshot([status('demo', changes)]), around));
}

describe('the use of tools in the rows (H1d)', () => {
  const day = 86_400_000;
  const now = 20_000 * day;
  const count = {
    server: 'demo',
    as: '',
    tool: 'echo',
    calls: 30,
    failed: 2,
    first: now - 20 * day,
    last: now - 2 * 3_600_000,
    agents: ['[codex](command:x)'],
  };
  const demo = status('demo', {
    tools: [servedTool('echo'), servedTool('rare')],
    listed: ['echo', 'rare'],
    offered: 2,
  });
  const rowsFor = (first: number, more: Partial<typeof count> = {}): TreeNode => {
    const use = new FolderUse([{ ...count, first, ...more }]).of(demo, new Set(['demo']), now);
    return only(treeModel(snapshot([demo]), { ...around, now, useOf: () => use }));
  };

  it('a tool says how often it was called, and an unused one since when nobody called it', () => {
    const { description, children } = rowsFor(count.first);
    assert.match(description, / · used 1 of 2 · /);
    const [echo, rare] = children;
    assert.match(echo?.description ?? '', /^30 calls, last 2 h ago/);
    assert.match(echo?.spoken ?? '', /30 calls, last 2 h ago/);
    const hover = echo?.tooltip.value ?? '';
    assert.match(hover, /30 calls, last 2 h ago · 2 failed · by /);
    assert.doesNotMatch(hover, /\]\(command/);
    assert.match(rare?.description ?? '', /^never called in 20 days/);
  });

  it('the age of the last call is in minutes, hours or days, as ages are everywhere', () => {
    const minute = 60_000;
    const ages = [0, 59 * minute, 60 * minute, 47 * 60 * minute + minute, 2 * day, 20 * day];
    const words = ages.map((age) => {
      const [echo] = rowsFor(count.first, { calls: 1, last: now - age }).children;
      return echo?.description.split(' · ')[0];
    });
    assert.deepEqual(words, [
      '1 call, last <1 min ago',
      '1 call, last 59 min ago',
      '1 call, last 1 h ago',
      '1 call, last 47 h 1 min ago',
      '1 call, last 2 d ago',
      '1 call, last 20 d ago',
    ]);
  });

  it('in Chinese, the use of a tool is Chinese', () => {
    speak('zh-cn', chinese as Bundle);
    try {
      const [echo, rare] = rowsFor(count.first).children;
      assert.match(echo?.description ?? '', /^30 次调用，最近一次在 2 小时前/);
      assert.match(
        echo?.tooltip.value ?? '',
        /30 次调用，最近一次在 2 小时前 · 2 次失败 · 调用者：/,
      );
      assert.match(rare?.description ?? '', /^20 天内未被调用/);
    } finally {
      speak('en', undefined);
    }
  });

  it('before seven days, no tool and no server is called unused', () => {
    const { description, children } = rowsFor(now - 6 * day);
    assert.doesNotMatch(description, /used/);
    assert.deepEqual([children[1]?.description], ['']);
  });
});

describe('treeModel', () => {
  it('lists servers in file order', () => {
    const nodes = treeModel(snapshot([status('b'), status('a')]), around);
    assert.deepEqual(
      nodes.map(({ label }) => label),
      ['b', 'a'],
    );
  });

  it('says what is only for the person, and shows problems of the layer (C7)', () => {
    const place = { ...problem().place, file: '/folder/.minds/mcp.local.yaml' };
    const mine = status('demo', {
      local: ['env.A', 'tools.blacklist', 'tools.override.echo'],
      localPlace: place,
      siftedForMe: () => new Set(['one', 'four']),
      tools: toolset('demo', 'three', 'four').tools,
      excluded: [
        { original: 'one', reason: { kind: 'blacklist', pattern: 'one' } },
        { original: 'two', reason: { kind: 'blacklist', pattern: 't*' } },
      ],
    });
    const found = problem({ server: 'demo', place });
    const { description, tooltip, spoken, children } = only(
      treeModel({ ...snapshot([mine]), problems: [found] }, around),
    );
    assert.match(description, /only for me/);
    assert.match(spoken, /only for me/);
    assert.match(read(tooltip), /Only for me, by .*mcp\.local\.yaml: `env\.A`, `tools\.blacklist`/);
    assert.deepEqual(
      children
        .filter(({ kind }) => kind === 'excluded' || kind === 'tool')
        .map((row) => [row.label, /only for me/.test(row.description)]),
      [
        ['three', false],
        ['four', true],
        ['one', true],
        ['two', false],
      ],
    );
    assert.ok(children.some(({ kind }) => kind === 'problem'));
    assert.doesNotMatch(serverRow({}).description, /only for me/);
  });

  it('shows only servers with an error or a warning if a person wants that', () => {
    const servers = ['error', 'warning', 'information', 'fine'].map((id) => status(id));
    const problems = (['error', 'warning', 'information'] as const).map((severity) => ({
      ...problem({ severity, server: severity }),
    }));
    const shown = (onlyWithProblems: boolean): string[] =>
      treeModel({ ...snapshot(servers), problems }, { ...around, onlyWithProblems }).map(
        ({ label }) => label,
      );
    assert.deepEqual(shown(true), ['error', 'warning']);
    assert.deepEqual(shown(false), ['error', 'warning', 'information', 'fine']);
  });

  const states: [ServerState, string, string][] = [
    [{ kind: 'disabled' }, 'disabled · stdio', 'server'],
    [{ kind: 'invalid' }, 'entry with errors · stdio', 'server'],
    [{ kind: 'starting', since: 0 }, 'starting… · stdio', 'server stoppable'],
    [
      { kind: 'running', since: 0 },
      '0 tools · agents get nothing · stdio',
      'server stoppable restartable',
    ],
    [
      { kind: 'idle', since: 0 },
      'idle · agents get nothing · stdio',
      'server startable stoppable restartable',
    ],
    [
      { kind: 'reconnecting', attempt: 2, at: 0, cause: 'x' },
      'reconnecting, attempt 2 · stdio',
      'server stoppable restartable',
    ],
    [
      {
        kind: 'failed',
        since: 0,
        reason: 'exited with code 3: no config\nCommand: `x`.',
        fix: 'look',
      },
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

  it('shows the age of remembered tools, and whether their server is starting (P8)', () => {
    const row = (state: ServerState, age: number): TreeNode =>
      serverRow({ state, tools: [servedTool('a')], offered: 1, rememberedAt: -age });
    const hour = 3_600_000;
    const later = row({ kind: 'remembered', since: -2 * hour }, 2 * hour);
    assert.equal(
      later.description,
      'not started · 1 tool · remembered, 2 h old · ~18 tokens · stdio',
    );
    assert.equal(later.context, 'server startable stoppable restartable enabled');
    const starting = row({ kind: 'starting', since: 0 }, 49 * hour);
    assert.equal(
      starting.description,
      'starting… · 1 tool · remembered, 2 d old · ~18 tokens · stdio',
    );
    for (const { tooltip } of [later, starting]) {
      assert.match(read(tooltip), /remembered.* from .*A call waits until its server has started/);
    }
  });

  it('counts the published tools of all offered ones', () => {
    assert.equal(
      serverRow({ tools: [servedTool('a')], offered: 3 }).description,
      '1 of 3 tools · ~18 tokens · stdio',
    );
    assert.equal(
      serverRow({ tools: [servedTool('a')], offered: 1 }).description,
      '1 tool · ~18 tokens · stdio',
    );
    const idle = serverRow({
      tools: [servedTool('a')],
      offered: 3,
      state: { kind: 'idle', since: 0 },
    });
    assert.equal(idle.description, 'idle · 1 of 3 tools · ~18 tokens · stdio');
  });

  it('names the source of a server outside the only file, and its shadowed entries', () => {
    assert.doesNotMatch(serverRow({}).description, /folder|user|mcprc/);
    assert.match(serverRow({ origin: 'user' }).description, /· user$/);
    const source = '/folder/.mcprc';
    assert.match(serverRow({ origin: 'mcprc', source }).description, /· \.mcprc$/);
    const shadowed = {
      file: source,
      range: { start: { line: 1, character: 2 }, end: { line: 1, character: 5 } },
    };
    const row = only(serverRow({ shadows: [shadowed] }).children);
    assert.deepEqual(
      [row.label, row.description, row.place],
      ['also in .mcprc', 'shadowed', shadowed],
    );
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
        changedOffers: [
          { launch: '', kind: 'tool', original: 'b', parts: ['description'], held: true },
        ],
      },
      '1 change held back',
    ],
  ];
  for (const [what, changes, phrase] of lacking) {
    it(`a running server is a warning in icon and words if ${what} (E3c)`, () => {
      const row = serverRow(changes);
      assert.equal(row.icon.id, 'warning');
      assert.ok(row.description.split(' · ').includes(phrase), row.description);
      assert.match(row.spoken ?? '', new RegExp(`^demo, server, running, warning, .*${phrase}`));
      const stopped = serverRow({ ...changes, state: { kind: 'stopped', since: 0 } });
      assert.equal(stopped.icon.id, 'circle-large-outline');
    });
  }

  it('a server whose tools the editor does not show is a warning', () => {
    const problems = [
      problem({ code: 'editor-toolset-hidden', severity: 'warning', server: 'demo', inEditor: 0 }),
    ];
    const row = only(
      treeModel(snapshot([status('demo', { tools: [servedTool('a')] })], { problems }), around),
    );
    assert.equal(row.icon.id, 'warning');
    assert.match(row.description, /0 tools in the editor/);
  });

  describe('the worst problem below a server decides about its icon (E3c)', () => {
    const broken = { kind: 'failed', since: 0, reason: 'x', fix: 'y' } as const;
    const looks: readonly (readonly [ServerState, Problem['severity'][], string])[] = [
      [{ kind: 'running', since: 0 }, [], 'pass-filled testing.iconPassed'],
      [{ kind: 'running', since: 0 }, ['information', 'hint'], 'pass-filled testing.iconPassed'],
      [{ kind: 'running', since: 0 }, ['warning'], 'warning list.warningForeground'],
      [{ kind: 'running', since: 0 }, ['warning', 'error'], 'error list.errorForeground'],
      [{ kind: 'idle', since: 0 }, ['error'], 'error list.errorForeground'],
      [{ kind: 'starting', since: 0 }, ['error', 'warning'], 'loading~spin '],
      [
        { kind: 'reconnecting', attempt: 2, at: 0, cause: 'x' },
        ['error'],
        'sync~spin list.errorForeground',
      ],
      [{ kind: 'stopped', since: 0 }, ['warning'], 'circle-large-outline list.warningForeground'],
      [broken, ['warning', 'error'], 'error list.errorForeground'],
    ];
    for (const [state, severities, expected] of looks)
      it(`${state.kind} with ${severities.join(' and ') || 'no problem'}`, () => {
        const problems = severities.map((severity) => problem({ severity, server: 'demo' }));
        const server = status('demo', { state, tools: [servedTool('a')], offered: 1 });
        const { icon, spoken } = only(treeModel(snapshot([server], { problems }), around));
        assert.equal(`${icon.id} ${icon.color ?? ''}`, expected);
        const worst = severities.find((one) => one === 'error') ?? severities[0];
        assert.equal(
          spoken.includes(`${worst}`),
          state.kind !== 'failed' && severities.some((one) => ['error', 'warning'].includes(one)),
          spoken,
        );
      });

    it('a problem of the same server in another file does not count', () => {
      const place = { ...problem().place, file: '/folder/.mcprc' };
      const problems = [problem({ server: 'demo', place })];
      const server = status('demo', { tools: [servedTool('a')] });
      assert.equal(
        only(treeModel(snapshot([server], { problems }), around)).icon.id,
        'pass-filled',
      );
    });
  });

  it('a server whose new launch waits says so, and is no warning (R1a)', () => {
    const row = serverRow({ tools: [servedTool('a')], offered: 1, waits: true });
    assert.equal(row.description, '1 tool · waits while you type… · ~18 tokens · stdio');
    assert.equal(row.icon.id, 'pass-filled');
    const unstarted = serverRow({ state: { kind: 'waiting' }, waits: true });
    assert.equal(unstarted.description, 'waits while you type… · stdio');
    assert.equal(unstarted.icon.color, undefined);
  });

  it('a server that keeps tools out by its lists, or serves only prompts, is green (E3c)', () => {
    const listed = {
      excluded: [{ original: 'b', reason: { kind: 'whitelist' } }],
      tools: [servedTool('a')],
    } as const;
    const prompts = [{ original: 'p', published: 'p', prompt: { name: 'p' } }];
    for (const changes of [listed, { prompts }])
      assert.equal(serverRow(changes).icon.id, 'pass-filled');
  });

  it('shows the time and the reason if a previous definition serves', () => {
    const row = serverRow({ previous: { since: 0, reason: 'npx was not found' } });
    assert.match(row.description, /previous definition since \d/);
    assert.equal(row.icon.id, 'warning');
    assert.match(read(row.tooltip), /previous definition.*since .*npx was not found/);
  });

  it('shows reason and fix of a failure in the tooltip', () => {
    const { tooltip } = serverRow({
      state: { kind: 'failed', since: 0, reason: 'exit *1*', fix: 'Install it.' },
    });
    assert.match(tooltip.value, /exit \\\*1\\\*/);
    assert.match(read(tooltip), /Install it/);
    assert.match(read(tooltip), /mcp\.yaml/);
  });

  it('names the folder only if there are several', () => {
    const other = status('b', { source: '/other/.minds/mcp.yaml' });
    const [row] = treeModel(snapshot([status('a'), other]), around);
    assert.match(row?.description ?? '', / · folder$/);
    assert.doesNotMatch(serverRow({}).description, /folder/);
  });

  it('shows published names with the first line of the description, and original names in the hover', () => {
    const described = {
      ...servedTool('click'),
      tool: { ...servedTool('click').tool, description: 'Clicks.\nHard.' },
    };
    const [plain, renamed] = serverRow({
      tools: [described, servedTool('my_read', { original: 'read' })],
      offered: 2,
    }).children;
    assert.deepEqual([plain?.label, plain?.description], ['click', 'Clicks.']);
    assert.deepEqual(
      [renamed?.label, renamed?.description, renamed?.name],
      ['my_read', '', 'my_read'],
    );
    assert.match(read(renamed?.tooltip ?? ''), /The server calls it `?read`?/);
  });

  const out = (original: string, reason: ExclusionReason) => ({ original, reason });

  it('has a tick box at each tool that a list or a permission decides about and a pattern can name, in the order of the server (N2)', () => {
    const changes = {
      tools: [servedTool('my_b', { original: 'b' })],
      excluded: [
        out('c', { kind: 'blacklist', pattern: 'c*' }),
        out('a', { kind: 'whitelist' }),
        out('a*', { kind: 'whitelist' }),
        out('d', { kind: 'denied', pattern: 'd', published: 'my_d' }),
      ],
      listed: ['a', 'b', 'a*', 'c', 'd'],
      offered: 5,
    };
    const rows = serverRow(changes).children;
    const group = rows.at(-1);
    assert.deepEqual(
      rows.map((row) => [row.label, row.ticked]),
      [
        ['a', false],
        ['my_b', true],
        ['c', false],
        ['my_d', false],
        ['Left out', undefined],
      ],
    );
    assert.deepEqual(
      group?.children.map(({ label, ticked, published }) => [label, ticked, published]),
      [['a*', undefined, undefined]],
    );
    const ticksOf = (changesForMe: boolean): (boolean | undefined)[] => {
      const servers = snapshot([status('demo', { ...changes, origin: 'mcprc' })]);
      const [one] = treeModel(servers, { ...around, changesForMe });
      return (one?.children ?? []).slice(0, 4).map(({ ticked }) => ticked);
    };
    assert.deepEqual(ticksOf(false), [undefined, undefined, undefined, undefined]);
    assert.deepEqual(ticksOf(true), [false, true, false, false], 'ticks go into the layer (C7)');
  });

  it('keeps the row of a tool when its tick changes', () => {
    const ids = [
      serverRow({ tools: [servedTool('my_b', { original: 'b' })] }),
      serverRow({ excluded: [out('b', { kind: 'whitelist' })] }),
    ].map(({ children }) => children[0]?.id);
    assert.equal(ids[0], ids[1]);
  });

  it('the words of a row tell the submenu what happens when its tool is called (S4)', () => {
    const server = status('demo', {
      tools: [servedTool('a', { isAsked: true }), servedTool('b'), servedTool('c')],
      excluded: [out('d', { kind: 'denied', pattern: 'd', published: 'd' })],
    });
    const options = { ...around, isAllowed: (tool: string) => tool === 'c' };
    const rows = only(treeModel(snapshot([server]), options)).children;
    assert.deepEqual(
      rows.map(({ context }) => context),
      [
        'tool calledAsk ticked',
        'tool calledDefault ticked',
        'tool calledAllow ticked',
        'excluded denied unticked',
      ],
    );
  });

  it('marks a tool that asks before calls (S4)', () => {
    const server = status('demo', { tools: [servedTool('a', { isAsked: true }), servedTool('b')] });
    const rows = only(treeModel(snapshot([server]), around)).children;
    assert.deepEqual(
      rows.map(({ description }) => description),
      ['asks before calls', ''],
    );
  });

  it('has the built-in toolset below the servers, without tick boxes (L5)', () => {
    const builtIn = toolset('mcp_admin', 'mcp_status');
    const [, row] = treeModel(snapshot([status('demo')], { builtIn }), around);
    assert.deepEqual(
      [row?.label, row?.description],
      ['mcp_admin', 'built in · 1 tool · ~21 tokens'],
    );
    assert.deepEqual(
      row?.children.map(({ label, ticked, context }) => [label, ticked, context]),
      [['mcp_status', undefined, 'builtInTool tool calledDefault']],
    );
  });

  it('offers “Set Secret…” only for servers with a secret', () => {
    assert.doesNotMatch(serverRow({}).context, /secret/);
    assert.match(serverRow({ hasSecrets: true }).context, /secret/);
    const unset = problem({ server: 'demo', code: 'secret-unset' });
    const row = only(treeModel(snapshot([status('demo')], { problems: [unset] }), around));
    assert.match(row.context, /secret/);
    assert.equal(
      row.children[0]?.name,
      'The variable is not set. Set it.',
      'what “Copy Error” copies',
    );
  });

  it('marks a tool that only the editor does not get (N7b)', () => {
    const [row] = serverRow({
      tools: [servedTool('click', { editorRefuses: { kind: 'schema', detail: 'no items' } })],
    }).children;
    assert.equal(row?.description, 'not in the editor');
    assert.match(read(row?.tooltip ?? ''), /Not in this editor: .*no items/);
  });

  const reasons: [ExclusionReason, RegExp][] = [
    [{ kind: 'originalNameInvalid' }, /rule/],
    [{ kind: 'publishedNameInvalid', published: 'a b' }, /“a b”/],
    [{ kind: 'schema', detail: 'no items' }, /no items/],
    [{ kind: 'nameTaken', published: 'p', holder: 'h' }, /“p” belongs to h/],
    [{ kind: 'nameReserved', published: 'p' }, /built-in/],
    [{ kind: 'listedTwice' }, /more than once/],
  ];
  it('puts tools that are left out into a group, with the reason', () => {
    const excluded = reasons.map(([reason], index) => ({ original: `t${index}`, reason }));
    const group = only(serverRow({ excluded, offered: 7 }).children);
    assert.deepEqual([group.label, group.description], ['Left out', '6']);
    group.children.forEach((row, index) =>
      assert.match(row.description, reasons[index]?.[1] ?? /never/),
    );
  });

  it('says at the row of a denied tool which permission denies it', () => {
    const denied = out('t', { kind: 'denied', pattern: '*_x', published: 'p' });
    const row = only(serverRow({ excluded: [denied], offered: 1 }).children);
    assert.deepEqual([row.label, row.ticked], ['p', false]);
    assert.match(row.description, /your permissions: \*_x/);
  });

  it('shows instances with their use', () => {
    const instance = { pid: 7, startedAt: 0, lastCallAt: undefined, callsInFlight: 1 };
    const group = only(
      serverRow({
        instances: [
          { ...instance, id: '1', use: { kind: 'warm' } },
          { ...instance, id: '2', use: { kind: 'leased', conversation: '0123456789', since: 0 } },
          { ...instance, id: '3', use: { kind: 'spare' } },
        ],
      }).children,
    );
    assert.deepEqual(
      group.children.map(({ label }) => label),
      ['ready', 'conversation 01234567', 'spare'],
    );
    assert.deepEqual(
      group.children.map(({ context, conversation }) => [context, conversation]),
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

  it('names a conversation by its title or its last tool', () => {
    const use = { kind: 'leased', conversation: '0123456789', since: 0 } as const;
    const instance = {
      id: '1',
      pid: 7,
      startedAt: 0,
      lastCallAt: 0,
      callsInFlight: 0,
      lastTool: 'click',
      use,
    };
    const row = (titleOf: TreeOptions['titleOf']) =>
      only(
        only(treeModel(snapshot([status('a', { instances: [instance] })]), { ...around, titleOf }))
          .children,
      ).children[0];
    const titled = row(() => ({ text: 'Fix the page', chat: 'c' }));
    assert.deepEqual([titled?.label, titled?.chat], ['Fix the page', 'c']);
    assert.equal(titled?.description, 'click · idle <1 min · <1 min old');
    assert.match(read(titled?.tooltip ?? ''), /conversation .*0123456789.*last call click/s);
    const other = row(() => undefined);
    assert.match(other?.label ?? '', /^click, \d/);
    assert.equal(other?.description, 'idle <1 min · <1 min old');
    assert.equal(other?.chat, undefined);
  });

  it('shows age and idle time of an instance', () => {
    const at = (minutes: number): number => -minutes * 60_000;
    const leased = { kind: 'leased', conversation: '0123456789', since: at(61) } as const;
    const instance = { id: '1', pid: undefined, startedAt: at(61), callsInFlight: 0, use: leased };
    const described = (lastCallAt: number | undefined): string | undefined =>
      only(serverRow({ instances: [{ ...instance, lastCallAt }] }).children).children[0]
        ?.description;
    assert.equal(described(at(4)), 'idle 4 min · 1 h 1 min old');
    assert.equal(described(undefined), 'not called yet · 1 h 1 min old');
  });

  it('tells a screen reader the meaning of icons', () => {
    assert.equal(
      serverRow({}).spoken,
      'demo, server, running, warning, 0 tools, agents get nothing, stdio',
    );
    const [tool] = serverRow({ tools: [servedTool('a', { original: 'b' })], offered: 1 }).children;
    assert.equal(tool?.spoken, 'a, tool, originally b');
    const excluded = [
      { original: 't', reason: { kind: 'whitelist' } as const },
      { original: 'u', reason: { kind: 'listedTwice' } as const },
    ];
    const [row, group] = serverRow({ excluded, offered: 2 }).children;
    assert.deepEqual(
      [row?.spoken, group?.spoken],
      ['t, kept out: not in the whitelist', 'Left out, 1'],
    );
  });

  it('shows the arguments, the effects and the tokens of a tool', () => {
    const tool = servedTool('a');
    const inputSchema = {
      type: 'object' as const,
      properties: { path: {}, depth: {} },
      required: ['path'],
    };
    const described = { ...tool.tool, inputSchema, annotations: { readOnlyHint: true } };
    const [row] = serverRow({ tools: [{ ...tool, tool: described }], offered: 1 }).children;
    assert.match(
      read(row?.tooltip ?? ''),
      /Takes path, \[depth\]\n\n.*\n\nonly reads · ~\d+ tokens$/,
    );
  });

  it('shows errors and warnings of a server first, and no information', () => {
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

  it('a mistake of a whole file is a row with its line and cause, and leads there', () => {
    const broken = problem({ message: 'The list is not closed.' });
    const [row, ...others] = treeModel(snapshot([], { problems: [broken] }), around);
    assert.equal(row?.label, 'Line 4: The list is not closed. (.minds/mcp.yaml)');
    assert.deepEqual([row.kind, row.place], ['problem', broken.place]);
    assert.deepEqual(others, []);
    const refused = [{ file, since: 0 }];
    const beside = treeModel(snapshot([status('demo')], { problems: [broken], refused }), around);
    assert.deepEqual(
      beside.map(({ kind }) => kind),
      ['problem', 'server'],
    );
  });

  it('a row says its state first', () => {
    const { description } = serverRow({
      state: { kind: 'starting', since: 0 },
      tools: [servedTool('a')],
      offered: 3,
    });
    assert.match(description, /^starting… · 1 of 3 tools · /);
  });

  it('an entry that failed or has an error is open', () => {
    const open = (state: ServerState): boolean | undefined => serverRow({ state }).isUnfolded;
    assert.ok(open({ kind: 'failed', since: 0, reason: '', fix: '' }));
    assert.ok(open({ kind: 'invalid' }));
    assert.ok(open({ kind: 'pending' }));
    assert.ok(!open({ kind: 'running', since: 0 }));
  });

  it('gives every row a unique id that does not change when other rows come and go', () => {
    const ids = (node: TreeNode): string[] => [node.id, ...node.children.flatMap(ids)];
    const row = serverRow({
      tools: [servedTool('a'), servedTool('b')],
      excluded: [
        { original: 'c', reason: { kind: 'whitelist' } },
        { original: 'a', reason: { kind: 'listedTwice' } },
        { original: 'a', reason: { kind: 'listedTwice' } },
      ],
      offered: 4,
    });
    assert.equal(new Set(ids(row)).size, ids(row).length);
    const later = serverRow({ tools: [servedTool('b')], offered: 1 });
    assert.equal(later.id, row.id);
    assert.equal(later.children[0]?.id, row.children[1]?.id);
    assert.equal(row.id, `${file}#demo`);
  });

  it('returns equal rows for the same snapshot', () => {
    const one = snapshot([status('a', { tools: [servedTool('x')], offered: 2 })]);
    assert.deepEqual(treeModel(one, around), treeModel(one, around));
  });
});
