/**
 * Entries for toolsets in other agents' files (G6): before, after and report of each as golden
 * text.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { applyEdits } from '../../../src/core/yaml/edits.js';
import {
  agentKinds,
  agents,
  launcherFor,
  type AgentFolders,
  type AgentKind,
  type Launcher,
} from '../../../src/core/agents/agents.js';
import { planEntries, type EntriesPlan } from '../../../src/core/agents/planEntries.js';
import { importServers } from '../../../src/core/import/importServers.js';
import { assertGolden } from '../../support/golden.js';
import { posixPath } from '../../support/places.js';

const folder = path.join(import.meta.dirname, '../../golden/agents');
const tokenFile = '/home/ada/.minds/endpoints/ws-0a1b2c3d.token';
const fileOf = (agent: AgentKind, folders: AgentFolders): string | undefined =>
  agents[agent].place(folders)?.file;
/** The file in the home folder, with the same path on every system. */
const homeLauncher: Launcher = { command: 'node', args: ['/home/ada/.minds/bin/mcp-toolsets.js'] };
const folderLauncher = launcherFor('claude-code', '/home/ada');
const byFolderLauncher = (agent: AgentKind): Launcher => launcherFor(agent, '/home/ada');
const packageLauncher = (version: string): Launcher =>
  launcherFor('claude-code', '/home/ada', version);
const launcherOf = (agent: AgentKind): Launcher =>
  agents[agent].isOfFolder ? byFolderLauncher(agent) : homeLauncher;
/** The words of a launcher in JSON. */
const words = (launcher: Launcher): string => JSON.stringify(launcher.args).slice(1, -1);
const files: Record<AgentKind, string> = {
  'claude-code': '.mcp.json',
  codex: '.codex/config.toml',
  'copilot-cli': '.github/mcp.json',
  opencode: 'opencode.json',
  kilo: 'kilo.json',
  'gemini-cli': '.gemini/settings.json',
  'qwen-code': '.qwen/settings.json',
  cursor: '.cursor/mcp.json',
  cline: 'cline_mcp_settings.json',
  continue: 'config.yaml',
  windsurf: 'mcp_config.json',
  antigravity: 'mcp_config.json',
};

function plan(agent: AgentKind, text: string | undefined, changes: object = {}): EntriesPlan {
  const request = { agent, text, label: files[agent], folder: '/ws', tokenFile };
  return planEntries({
    ...request,
    toolsets: ['files', 'mcp_admin'],
    isEach: true,
    launcher: launcherOf(agent),
    ...changes,
  });
}

function planned(...given: Parameters<typeof plan>): Extract<EntriesPlan, { kind: 'planned' }> {
  const made = plan(...given);
  assert.ok(made.kind === 'planned', JSON.stringify(made));
  assert.equal(applyEdits(given[1] ?? '', made.edits), made.after);
  return made;
}

const cases: Record<string, readonly [AgentKind, string | undefined, object?]> = {
  'claude-code, no file': ['claude-code', undefined],
  'claude-code, beside others': [
    'claude-code',
    `{\n    "mcpServers": {\n        "files": { "command": "npx", "args": ["-y", "server-files"] }\n    }\n}\n`,
  ],
  'claude-code, one entry, no file': ['claude-code', undefined, { isEach: false }],
  'claude-code, one entry, from a package': [
    'claude-code',
    '{}',
    { isEach: false, launcher: packageLauncher('1.2.3') },
  ],
  'codex, one entry, no file': ['codex', undefined, { isEach: false }],
  'windsurf, one entry, beside the entry of another folder': [
    'windsurf',
    '{ "mcpServers": { "toolsets": { "command": "node", "args": ["/old/cli.js", "connect", "-C", "/other"] } } }',
    { isEach: false },
  ],
  'continue, one entry, an earlier form': [
    'continue',
    `mcpServers:\n  - name: mine\n    command: /old/node\n    args: [/old/cli.js, connect, -C, /ws]\n    connectionTimeout: 9000\n`,
    { isEach: false },
  ],
  'claude-code, from a package': ['claude-code', '{}', { launcher: packageLauncher('1.2.3') }],
  'claude-code, the form with an address and what a person added': [
    'claude-code',
    `{ // ours\n\t"mcpServers": {\n\t\t"mine": {\n\t\t\t"url": "http://localhost:9/mcp/files", // changed\n\t\t\t"timeout": 5000 /* kept */\n\t\t},\n\t},\n}\n`,
  ],
  'cursor, comments and line breaks of Windows': [
    'cursor',
    '{\r\n  // by hand\r\n  "mcpServers": {\r\n    /* one */ "one": { "url": "https://example.com" } // last\r\n  },\r\n  "other": [1, 2]\r\n}',
  ],
  'cline, everything on one line': [
    'cline',
    '{"mcpServers":{"a":{"command":"x","disabled":true}}}',
  ],
  'cline, the form with an address and a header': [
    'cline',
    '{\n  "mcpServers": {\n    "files": {\n      "url": "http://127.0.0.1:9/mcp/files",\n      "headers": { "X-Y": "z" },\n      "disabled": true\n    }\n  }\n}\n',
  ],
  'cursor, only a comment': ['cursor', '{\n  // nothing yet\n}\n'],
  'codex, no file': ['codex', undefined],
  'copilot-cli, no file': ['copilot-cli', undefined],
  'opencode, beside others': ['opencode', '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'],
  'kilo, beside the entry of another folder': [
    'kilo',
    '{\n  "mcp": {\n    "files": {\n      "type": "remote",\n      "url": "http://127.0.0.1:9/mcp/files",\n      "headers": { "Authorization": "Bearer {file:~/.minds/endpoints/other-11223344.token}" }\n    }\n  }\n}\n',
  ],
  'gemini-cli, the form with an address': [
    'gemini-cli',
    '{\n  "mcpServers": {\n    "files": { "httpUrl": "http://127.0.0.1:9/mcp/files", "trust": true }\n  }\n}\n',
  ],
  'qwen-code, no file': ['qwen-code', undefined],
  'cline, beside the entry of another folder': [
    'cline',
    '{ "mcpServers": { "files": { "command": "node", "args": ["/old/cli.js", "connect", "-C", "/other", "files"] } } }',
  ],
  'continue, beside the models': [
    'continue',
    `name: mine\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: o4 # kept\n    provider: openai\n# at the end\n`,
  ],
  'continue, beside others and the entry of another folder': [
    'continue',
    `models: []\nmcpServers:\n  # by hand\n  - name: other # kept\n    command: npx\n  - name: files\n    command: node\n    args: [/old/cli.js, connect, -C, /other, files]\nrules:\n  - be brief\n`,
  ],
  'continue, what a person added': [
    'continue',
    `mcpServers:\n  - name: mine\n    command: /old/node\n    args: [/old/cli.js, connect, -C, /ws, files]\n    connectionTimeout: 9000\n  - { name: other, command: x } # kept\n`,
  ],
  'continue, a list in flow style': [
    'continue',
    `{ "mcpServers": [{ "name": "other", "command": "x" }] }\n`,
  ],
  'windsurf, no file': ['windsurf', undefined],
  'antigravity, no file': ['antigravity', undefined],
  'codex, comments and other tables': [
    'codex',
    `# by hand\nmodel = "o4" # kept\n\n[mcp_servers.other]\ncommand = "npx"\nargs = ["-y", "other"]\n\n[[profiles]]\nname = 'x'\n# at the end`,
  ],
  'codex, the form with an address and what a person added': [
    'codex',
    `[mcp_servers."mine"] # ours\nenabled = true\nurl = 'http://127.0.0.1:9/mcp/files' # changed\nhttp_headers_helper = "node cli.js headers --token-file /home/ada/.minds/endpoints/ws-0a1b2c3d.token"\ntool_timeout_sec = 5\n\n[mcp_servers.mine.env]\n"X_Y" = "z"\n\n[mcp_servers.mcp_admin]\ncommand = "elsewhere"\n`,
  ],
};

/** An entry of ours in each form that an earlier version wrote. */
const earlier: readonly (readonly [string, object])[] = [
  ['the package', { command: 'npx', args: ['-y', 'mcp-toolsets@0.1.0', 'connect', 'files'] }],
  [
    'the launcher without a message',
    {
      command: 'node',
      args: [
        '-e',
        "require(require('os').homedir() + '/.minds/bin/mcp-toolsets.js')",
        'connect',
        'files',
      ],
    },
  ],
  ['a path', { command: 'node', args: ['/old/cli.js', 'connect', '-C', '/ws', 'files'] }],
  [
    'the launcher of now',
    { ...folderLauncher, args: [...folderLauncher.args, 'connect', 'files'] },
  ],
  ['an address', { type: 'http', url: 'http://127.0.0.1:9/mcp/files' }],
  ['of a toolset that is gone', { command: 'npx', args: ['mcp-toolsets', 'connect', 'gone'] }],
];

describe('one entry for all toolsets (G6k)', () => {
  const all = { isEach: false };

  for (const agent of Object.keys(files) as AgentKind[])
    it(`${agent}: one entry starts \`connect\` without a toolset, whatever the number of toolsets`, () => {
      const before = agents[agent].form === 'yaml' ? 'models: []\n' : undefined;
      const { after, entries } = planned(agent, before, all);
      assert.deepEqual(entries, [{ id: undefined, name: 'toolsets', change: 'added' }]);
      const other = planned(agent, before, { ...all, toolsets: ['a', 'b', 'c', 'mcp_admin'] });
      assert.equal(other.after, after);
      assert.equal(after.split('"connect"').length, 2, after);
      assert.ok(!after.includes('"files"'), after);
      const again = planned(agent, after, all);
      assert.deepEqual([again.edits, again.entries[0]?.change], [[], 'same']);
    });

  it('one entry takes a name that is free in the file', () => {
    const held = { toolsets: { command: 'x' }, 'Toolsets-2': { url: 'https://example.com' } };
    const { entries, after } = planned('cursor', JSON.stringify({ mcpServers: held }), all);
    assert.deepEqual(entries, [{ id: undefined, name: 'toolsets-3', change: 'added' }]);
    const { mcpServers } = JSON.parse(after) as { mcpServers: Record<string, unknown> };
    assert.deepEqual(
      { ...mcpServers, 'toolsets-3': undefined },
      { ...held, 'toolsets-3': undefined },
    );
  });

  for (const [form, entry] of earlier)
    it(`An entry of one toolset stays as it is, and the report says how to join (${form})`, () => {
      const text = JSON.stringify({ mcpServers: { own: { command: 'x' }, mine: entry } });
      const made = planned('claude-code', text, all);
      assert.deepEqual([made.after, made.edits], [text, []]);
      assert.deepEqual(
        made.entries.map(({ name, change }) => [name, change]),
        [['mine', 'kept']],
      );
      const advice =
        /To join them into one entry, remove (`mine`) from \.mcp\.json\. Then run `mcp-toolsets entries claude-code --write` in this folder/;
      assert.match(made.report, advice);
      assert.match(made.advice ?? '', advice);
      // Following it once is enough.
      const followed = planned(
        'claude-code',
        JSON.stringify({ mcpServers: { own: { command: 'x' } } }),
        all,
      );
      assert.deepEqual(
        followed.entries.map(({ name, change }) => [name, change]),
        [['toolsets', 'added']],
      );
      assert.equal(followed.advice, undefined);
    });

  it('The report names each entry to remove, and no entry of another program or folder', () => {
    const url = 'http://localhost:3000/mcp/github';
    const servers = {
      github: { url },
      files: { command: 'node', args: ['/x', 'connect', '-C', '/ws', 'files'] },
      elsewhere: { command: 'node', args: ['/x', 'connect', '-C', '/other', 'files'] },
      admin: { command: 'npx', args: ['mcp-toolsets', 'connect', 'mcp_admin'] },
    };
    const { advice, entries } = planned('windsurf', JSON.stringify({ mcpServers: servers }), all);
    assert.match(advice ?? '', /remove `files`, `admin` from/);
    assert.equal(entries.length, 2);
    const { github, elsewhere } = servers;
    const left = JSON.stringify({ mcpServers: { github, elsewhere } });
    assert.deepEqual(
      planned('windsurf', left, all).entries.map(({ change }) => change),
      ['added'],
    );
  });

  it('With one entry there, entries for each toolset are not added, because an agent would get each tool twice', () => {
    for (const agent of Object.keys(files) as AgentKind[]) {
      const before = agents[agent].form === 'yaml' ? 'models: []\n' : undefined;
      const one = planned(agent, before, all).after;
      const made = planned(agent, one);
      assert.equal(made.after, one);
      assert.deepEqual(made.entries, [{ id: undefined, name: 'toolsets', change: 'kept' }]);
      assert.match(
        made.report,
        new RegExp(
          `an entry for each toolset, remove \`toolsets\` from .*entries ${agent} --each --write`,
        ),
      );
    }
  });

  it('The name of an entry is inert in the report (S1d)', () => {
    const name = 'a`\n\u202e](http://x)';
    const entry = { command: 'npx', args: ['mcp-toolsets', 'connect', 'files'] };
    const { advice } = planned('cursor', JSON.stringify({ mcpServers: { [name]: entry } }), all);
    assert.doesNotMatch(advice ?? assert.fail(), /[\n\u202e]/);
  });

  it('The words of a committed entry have no meaning to a shell between quotation marks', () => {
    for (const agent of agentKinds.filter((kind) => agents[kind].isOfFolder)) {
      const words = byFolderLauncher(agent).args;
      for (const word of words) assert.doesNotMatch(word, /["%!^$`\\\r\n]/, word);
      assert.ok(words.at(-1)?.includes(`entries ${agent} --write`));
    }
  });

  // The day when the registry has the package and its name is ours: publish it, run `entries AGENT
  // --write` by `npx`, and commit the shorter entry. This test shows it; no code has to change.
  it('On the day when a registry has the package, an entry is `npx -y mcp-toolsets@<version> connect` (G6c)', () => {
    const ofToday = planned('claude-code', undefined, all).after;
    const { after, entries, report } = planned('claude-code', ofToday, {
      ...all,
      launcher: packageLauncher('1.2.3'),
    });
    assert.deepEqual(entries, [{ id: undefined, name: 'toolsets', change: 'updated' }]);
    assert.deepEqual(JSON.parse(after), {
      mcpServers: {
        toolsets: { type: 'stdio', command: 'npx', args: ['-y', 'mcp-toolsets@1.2.3', 'connect'] },
      },
    });
    assert.match(report, /starts the package `mcp-toolsets` by `npx`/);
  });
});

describe('entries for other agents', () => {
  for (const agent of Object.keys(files) as AgentKind[]) {
    for (const launcher of [launcherOf(agent), packageLauncher('1.2.3')]) {
      it(`${agent}, ${launcher.command}: import skips entries of ours and reads the others in the file (C6)`, () => {
        const { form, container } = agents[agent];
        const { after } = planned(agent, form === 'yaml' ? 'models: []\n' : undefined, {
          launcher,
        });
        const url = 'http://127.0.0.1:7427/mcp/other';
        const text = {
          toml: `${after}\n[mcp_servers.other]\nurl = "${url}"\n`,
          yaml: `${after}  - name: other\n    url: ${url}\n`,
          json: after.replace(
            `"${container}": {`,
            `"${container}": { "other": { "type": "remote", "url": "${url}" },`,
          ),
        }[form];
        const home = '/home/ada';
        const file = fileOf(agent, { folder: '/ws', home }) ?? assert.fail('no file');
        const found = importServers({ text, file, folders: { folder: '/ws', home } });
        assert.ok(found.kind === 'imported', JSON.stringify(found));
        assert.deepEqual(
          found.servers.map(({ id, entry }) => [id, entry.url]),
          [['other', url]],
        );
        assert.equal(
          found.notes.filter(({ message }) => message.includes('MCP Toolsets itself')).length,
          2,
        );
      });

      it(`${agent}, ${launcher.command}: the file is the same on every machine, and names neither port nor token`, () => {
        const before = agents[agent].form === 'yaml' ? 'models: []\n' : undefined;
        const one = planned(agent, before, { launcher }).after;
        const other = planned(agent, before, {
          launcher,
          folder: '/of/bob',
          tokenFile: '/home/bob/x.token',
        }).after;
        assert.equal(one === other, agents[agent].isOfFolder);
        assert.doesNotMatch(
          one,
          agents[agent].isOfFolder ? /127\.0\.0\.1|token|\/home\//i : /127\.0\.0\.1|token/i,
        );
      });
    }

    it(`${agent}: import reads the times of such entries of other servers (C6)`, () => {
      const { after } = planned(agent, agents[agent].form === 'yaml' ? 'models: []\n' : undefined, {
        toolsets: ['other'],
      });
      const home = '/home/ada';
      const file = fileOf(agent, { folder: '/ws', home }) ?? assert.fail('no file');
      const text = after.replace('"connect"', '"run"');
      const found = importServers({ text, file, folders: { folder: '/ws', home } });
      assert.ok(found.kind === 'imported', JSON.stringify(found));
      const [{ entry } = assert.fail('no server')] = found.servers;
      assert.equal(entry.transport, 'stdio');
      const { call, connect } = entry.timeouts ?? {};
      if (/tool_timeout_sec|timeout"/.test(after))
        assert.ok([call, connect].includes('10m'), JSON.stringify(entry.timeouts));
    });
  }

  for (const [name, [agent, text, changes]] of Object.entries(cases)) {
    it(name, () => {
      const { after, report, entries } = planned(agent, text, changes);
      const section = (title: string, body: string): string =>
        `--- ${title}\n${body.replaceAll('\r\n', '␍\n').replaceAll('\t', '→')}\n`;
      const told = entries
        .map((entry) => `${entry.id} as ${entry.name}: ${entry.change}`)
        .join('\n');
      const all = [
        section('before', text ?? ''),
        section('after', after),
        section('entries', told),
        section('report', report),
      ];
      assertGolden(path.join(folder, `${name.replaceAll(/[^\w]+/g, '-')}.txt`), all.join(''));
    });

    it(`${name}: a second plan changes nothing`, () => {
      const once = planned(agent, text, changes).after;
      const twice = planned(agent, once, changes);
      assert.deepEqual([twice.edits, twice.after], [[], once]);
      assert.ok(twice.entries.every(({ change }) => change === 'same'));
    });
  }

  it('an entry for another target stays, also under the second name', () => {
    const held = {
      files: { url: 'https://example.com/mcp/files' },
      'files-toolset': { command: 'x' },
    };
    const { entries, after } = planned('qwen-code', JSON.stringify({ mcpServers: held }), {
      toolsets: ['files'],
    });
    assert.deepEqual(entries, [{ id: 'files', name: 'files-toolset-2', change: 'added' }]);
    const { mcpServers } = JSON.parse(after) as { mcpServers: Record<string, unknown> };
    assert.deepEqual(
      { ...mcpServers, 'files-toolset-2': undefined },
      { ...held, 'files-toolset-2': undefined },
    );
  });

  it('an entry with a foreign credential has another target, whatever its address', () => {
    const url = 'http://localhost:3000/mcp/files';
    const foreign: readonly [AgentKind, object][] = [
      ['gemini-cli', { httpUrl: url, headers: { Authorization: 'Bearer $MCPHUB_TOKEN' } }],
      ['claude-code', { type: 'http', url, headers: { authorization: 'Basic eA==' } }],
      ['claude-code', { type: 'http', url, headersHelper: '/opt/hub/headers' }],
      ['cursor', { url, headers: { 'X-Api-Key': 'abc' } }],
    ];
    for (const [agent, entry] of foreign) {
      const text = JSON.stringify({ mcpServers: { hub: entry } });
      const { after, entries } = planned(agent, text, { toolsets: ['files'] });
      assert.deepEqual(
        (JSON.parse(after) as { mcpServers: { hub: unknown } }).mcpServers.hub,
        entry,
      );
      assert.equal(entries[0]?.change, 'added');
    }
    for (const text of [
      `[mcp_servers.hub]\nurl = "${url}"\nbearer_token_env_var = "HUB_TOKEN"\n`,
      `[mcp_servers.hub]\nurl = "${url}"\nhttp_headers = { Authorization = "Bearer x" }\n`,
      `[mcp_servers.hub]\nurl = "${url}"\nenv_http_headers = { Authorization = "HUB" }\n`,
    ]) {
      assert.ok(planned('codex', text, { toolsets: ['files'] }).after.startsWith(text));
    }
    const ours = {
      httpUrl: url,
      headers: { Authorization: 'Bearer $MCP_TOOLSETS_TOKEN', 'X-Mine': 'x' },
    };
    const kept = planned('gemini-cli', JSON.stringify({ mcpServers: { hub: ours } }), {
      toolsets: ['files'],
    });
    assert.equal(kept.entries[0]?.change, 'updated');
  });

  it('an entry in a list is updated key by key, and comments and layout stay', () => {
    const own = { toolsets: ['files'] };
    for (const [text, expected] of [
      [
        'mcpServers:\n- name: files # my note\n  command: node # kept\n  args: # old\n    - /old/cli.js\n    - connect\n    - -C\n    - /ws\n    - files\n  # inner\n  env: { A: b } # last\n',
        `mcpServers:\n- name: files # my note\n  command: node # kept\n  args: # old\n    [${words(homeLauncher)},"connect","-C","/ws","files"]\n  # inner\n  env: { A: b } # last\n  type: stdio\n`,
      ],
      [
        'mcpServers:\n  - command: /usr/bin/node\n    type: stdio\n    name: files\n    args:\n    - x # y\n    - connect\n    - -C\n    - /ws\n    - files\n',
        `mcpServers:\n  - command: node\n    type: stdio\n    name: files\n    args:\n      [${words(homeLauncher)},"connect","-C","/ws","files"]\n`,
      ],
      [
        "mcpServers: [{ name: 'files', args: [x, connect, -C, /ws, files], command: 'x' } ] # one\n",
        `mcpServers: [{ name: 'files', args: [${words(homeLauncher)},"connect","-C","/ws","files"], command: node, type: stdio } ] # one\n`,
      ],
    ] as const) {
      for (const lineBreak of ['\n', '\r\n']) {
        const { after } = planned('continue', text.replaceAll('\n', lineBreak), own);
        assert.equal(after, expected.replaceAll('\n', lineBreak));
      }
    }
  });

  it('an entry with an address becomes one with a command, and its other keys and all text around it stay', () => {
    const url = 'http://127.0.0.1:9/mcp/files';
    const own = { toolsets: ['files'] };
    const json = (entry: object): string =>
      `{ "mcpServers": { // one\n"files": ${JSON.stringify(entry)} /* two */ } }\n`;
    const { after } = planned(
      'claude-code',
      json({ type: 'http', url, headers: { 'X-Y': 'z' }, disabled: true }),
      own,
    );
    const [, entry = ''] =
      /^\{ "mcpServers": \{ \/\/ one\n"files": ([^]*) \/\* two \*\/ \} \}\n$/.exec(after) ?? [];
    const args = [...folderLauncher.args, 'connect', 'files'];
    assert.deepEqual(JSON.parse(entry), { type: 'stdio', disabled: true, command: 'node', args });
    const yaml = (item: string): string =>
      `# one\nmcpServers:\n  - name: a # two\n${item}    # three\nmodels: []\n`;
    const list = planned(
      'continue',
      yaml(`  - name: files\n    url: ${url}\n    connectionTimeout: 9\n`),
      own,
    ).after;
    assert.equal(
      list,
      yaml(
        `  - name: files\n    connectionTimeout: 9\n    type: stdio\n    command: node\n    args: [${words(homeLauncher)},"connect","-C","/ws","files"]\n`,
      ),
    );
  });

  it('`npx` stands in no file of the home folder, and elsewhere only if a registry has the package (G6c)', () => {
    for (const agent of Object.keys(files) as AgentKind[]) {
      const { isOfFolder } = agents[agent];
      assert.equal(launcherFor(agent, '/home/ada').command, 'node');
      assert.equal(launcherFor(agent, '/home/ada', '1.2.3').command, isOfFolder ? 'npx' : 'node');
      const file = launcherFor(agent, '/home/ada').args.at(-1) ?? '';
      assert.equal(posixPath(file).startsWith('/home/ada/.minds/bin/'), !isOfFolder);
    }
  });

  it('In a file of the home folder, an entry that starts `npx` becomes one that starts the launcher (G6c)', () => {
    for (const agent of ['windsurf', 'antigravity', 'cline', 'kilo', 'continue'] as const) {
      const own = { toolsets: ['files'] };
      const empty = agents[agent].form === 'yaml' ? 'models: []\n' : '{}';
      const now = planned(agent, empty, own).after;
      const before = planned(agent, empty, { ...own, launcher: packageLauncher('0.1.0') }).after;
      assert.match(before, /npx/);
      const { after, entries, report } = planned(agent, before, own);
      assert.deepEqual(entries, [{ id: 'files', name: 'files', change: 'updated' }]);
      assert.match(report, /`files` \(changed\)/);
      assert.equal(after.replace(/\s/g, ''), now.replace(/\s/g, ''));
    }
  });

  it('the first entry goes into an empty list or map, and comments stay', () => {
    const args = `[${words(homeLauncher)},"connect","-C","/ws","files"]`;
    const item = `- name: files\n    type: stdio\n    command: node\n    args: ${args}`;
    const flow = `[{"name":"files","type":"stdio","command":"node","args":${args}}]`;
    for (const [text, expected] of [
      ['mcpServers: # mine\nmodels: []\n', `mcpServers: # mine\n  ${item}\nmodels: []\n`],
      ['models: []\nmcpServers:', `models: []\nmcpServers:\n  ${item}`],
      ['mcpServers: null # mine\n', `mcpServers: ${flow} # mine\n`],
      ['{ "mcpServers": null, "models": [] }\n', `{ "mcpServers": ${flow}, "models": [] }\n`],
    ] as const) {
      assert.equal(planned('continue', text, { toolsets: ['files'] }).after, expected);
    }
    for (const agent of ['claude-code', 'cursor'] as const) {
      const text = (value: string): string =>
        `{\n  "mcpServers": ${value}, // mine\n  "other": 1\n}\n`;
      assert.equal(planned(agent, text('null')).after, planned(agent, text('{}')).after);
    }
  });

  it('an entry of an earlier version is recognised by the name of the token file', () => {
    const helper = `node cli.js headers --port 7427 --token-file ${tokenFile}`;
    const text = JSON.stringify({
      mcpServers: {
        mine: { type: 'http', url: 'http://127.0.0.1:7427/mcp/files', headersHelper: helper },
      },
    });
    const { entries } = planned('claude-code', text, { toolsets: ['files'] });
    assert.deepEqual(entries, [{ id: 'files', name: 'mine', change: 'updated' }]);
  });

  for (const name of ['12', 'files (mine', 'a.b', "it's", 'a "b"', 'a\\', '(a+)+$']) {
    it(`an existing entry is updated under any name: ${name}`, () => {
      for (const agent of Object.keys(files) as AgentKind[]) {
        const { form } = agents[agent];
        const beside = form === 'yaml' ? 'mcpServers:\n  - { name: other, command: x }\n' : '';
        const first = planned(agent, beside, {
          toolsets: ['files'],
          launcher: packageLauncher('0.0.1'),
        }).after;
        const renamed =
          form === 'toml'
            ? first.replace('.files]', `.${JSON.stringify(name)}]`)
            : first.replace(/"files(-toolset)?": \{|name: files$/m, () =>
                form === 'yaml' ? `name: ${JSON.stringify(name)}` : `${JSON.stringify(name)}: {`,
              );
        assert.ok(renamed.includes(JSON.stringify(name)), renamed);
        const { entries, after } = planned(agent, renamed, { toolsets: ['files'] });
        assert.deepEqual(entries, [{ id: 'files', name, change: 'updated' }], agent);
        assert.ok(!after.includes('@0.0.1'), after);
      }
    });
  }

  it('a toolset with a name that means something to JavaScript has its entry beside the others', () => {
    for (const agent of Object.keys(files) as AgentKind[]) {
      const before = agents[agent].form === 'yaml' ? 'models: []\n' : undefined;
      const toolsets = ['__proto__', 'constructor', 'files'];
      const { after, entries } = planned(agent, before, { toolsets });
      assert.deepEqual(
        entries.map(({ name, change }) => [name, change]),
        toolsets.map((id) => [id, 'added']),
      );
      assert.ok(
        planned(agent, after, { toolsets }).entries.every(({ change }) => change === 'same'),
        agent,
      );
    }
  });

  // A file of the folder may come from anyone; each comment made it twice as long before.
  it('each line of a file keeps its own line break', () => {
    const text = 'model = "x" # one\r\n# two\n[tui]\r\ny = 1\n';
    const { after } = planned('codex', text);
    assert.ok(after.startsWith(text), JSON.stringify(after));
    // Also in our table with a replaced and an inserted key.
    const own = `${text}\r\n[mcp_servers.files] # ours\r\nargs = ["mcp-toolsets@1", "connect", "files"] # here\n# last\r\n`;
    const there = planned('codex', own).after;
    assert.ok(
      there.startsWith(
        `${text}\r\n[mcp_servers.files] # ours\r\ncommand = "node"\r\nstartup_timeout_sec = 60\r\n`,
      ),
      JSON.stringify(there),
    );
    assert.ok(there.includes('  "connect",\r\n  "files",\r\n] # here\n# last\r\n'), there);
    const last = planned('codex', own.replace(' # here\n', ' # here\r\n')).after;
    assert.ok(last.includes('  "files",\r\n] # here\r\n# last\r\n'), JSON.stringify(last));
    // The list of ours is replaced as a whole.
    assert.ok(planned('codex', last).entries.every(({ change }) => change === 'same'));
    const older = last.replace(/"-e",\r\n.*,\r\n/, '"/old/mcp-toolsets",\r\n');
    assert.notEqual(older, last);
    assert.equal(planned('codex', older).after, last);
  });

  it('a long line of comments behind the last entry is read in linear time (S2)', () => {
    const line = `    "a": {}${' /* one */'.repeat(30)}`;
    const { after } = planned('cursor', `{\n  "mcpServers": {\n${line} }\n}\n`);
    assert.ok(after.startsWith(`{\n  "mcpServers": {\n    "a": {}, "`), after);
    const ofOwn = planned('cursor', `{\n  "mcpServers": {\n${line} // two\n  }\n}\n`).after;
    assert.ok(ofOwn.includes(`${line.replace('{}', '{},')} // two\n    "`), ofOwn);
  }).timeout(2_000);

  it('each entry has the name of its toolset if it is free, so that no program offers a toolset twice', () => {
    for (const agent of Object.keys(files) as AgentKind[]) {
      const before = agents[agent].form === 'yaml' ? 'models: []\n' : undefined;
      assert.ok(planned(agent, before).entries.every(({ id, name }) => id === name));
    }
  });

  for (const [agent, text, reason] of [
    ['cursor', '{ "mcpServers": ', /\.cursor\/mcp\.json: it is not JSON/],
    ['cursor', '[]', /it is not a JSON object/],
    ['cline', '{ "mcpServers": [] }', /`mcpServers` is not a map/],
    ['continue', '', /the file does not exist yet\. Continue keeps its models in it/],
    ['continue', 'a: [', /it is not YAML/],
    ['continue', 'mcpServers: { a: { command: x } }', /`mcpServers` is not a list of servers/],
    ['continue', 'mcpServers: [{ command: x }]', /`mcpServers` is not a list of servers/],
    ['codex', 'a = ', /it is not TOML in line 1/],
    [
      'codex',
      'mcp_servers = { a = { command = "x" } }\n',
      /cannot be changed without touching other parts/,
    ],
    [
      'codex',
      'mcp_servers.files.url = "http://127.0.0.1:9/mcp/files"\n',
      /cannot be changed without touching other parts/,
    ],
  ] as const) {
    it(`a plan fails for an unusable file: ${text}`, () => {
      const made = plan(agent, text);
      assert.match(made.kind === 'impossible' ? made.reason : 'planned', reason);
    });
  }

  it('each agent has its file, in the folder or on the machine', () => {
    const around = { folder: '/ws', home: '/home/ada' };
    assert.deepEqual(
      Object.keys(agents).map((kind) =>
        posixPath(
          fileOf(kind as AgentKind, { ...around, globalStorage: '/data/User/globalStorage' }) ?? '',
        ),
      ),
      [
        '/ws/.mcp.json',
        '/ws/.codex/config.toml',
        '/ws/.github/mcp.json',
        '/ws/opencode.json',
        '/home/ada/.config/kilo/kilo.json',
        '/ws/.gemini/settings.json',
        '/ws/.qwen/settings.json',
        '/ws/.cursor/mcp.json',
        '/data/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
        '/home/ada/.continue/config.yaml',
        '/home/ada/.codeium/windsurf/mcp_config.json',
        '/home/ada/.gemini/config/mcp_config.json',
      ],
    );
    assert.equal(fileOf('cursor', { ...around, folder: undefined }), undefined);
    assert.equal(
      posixPath(fileOf('kilo', { ...around, configHome: '/c' }) ?? ''),
      '/c/kilo/kilo.json',
    );
    assert.equal(
      posixPath(fileOf('cline', around) ?? ''),
      '/home/ada/.cline/data/settings/cline_mcp_settings.json',
    );
  });
});
