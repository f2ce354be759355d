/** Entries for toolsets in other agents' files (G6): before, after and report of each as golden text. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { applyEdits } from '../../../src/core/yaml/edits.js';
import { agents, fileOf, type AgentKind } from '../../../src/core/agents/agents.js';
import { planEntries, type EntriesPlan } from '../../../src/core/agents/planEntries.js';
import { importServers } from '../../../src/core/import/importServers.js';
import { assertGolden } from '../../support/golden.js';
import { posixPath } from '../../support/places.js';

const folder = path.join(import.meta.dirname, '../../golden/agents');
const source = {
  tokenFile: '/home/ada/.minds/endpoints/ws-0a1b2c3d.token',
  home: '/home/ada',
  platform: 'linux' as NodeJS.Platform,
};
const at = (id: string, port = 7427): { id: string; url: string } => ({
  id,
  url: `http://127.0.0.1:${port}/mcp/${id}`,
});
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
  const toolsets = [at('files'), at('mcp_admin')];
  const launcher = { command: '/usr/bin/node', args: ['/opt/mcp-toolsets/dist/cli.js'], folder: '/ws' };
  return planEntries({ agent, text, label: files[agent], toolsets, source, launcher, ...changes });
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
  'claude-code on Windows': ['claude-code', '{}', { source: { ...source, platform: 'win32' } }],
  'claude-code, another port and what a person added': [
    'claude-code',
    `{ // ours\n\t"mcpServers": {\n\t\t"mine": {\n\t\t\t"url": "http://localhost:9/mcp/files", // changed\n\t\t\t"timeout": 5000 /* kept */\n\t\t},\n\t},\n}\n`,
  ],
  'cursor, comments and line breaks of Windows': [
    'cursor',
    '{\r\n  // by hand\r\n  "mcpServers": {\r\n    /* one */ "one": { "url": "https://example.com" } // last\r\n  },\r\n  "other": [1, 2]\r\n}',
  ],
  'cline, everything on one line': ['cline', '{"mcpServers":{"a":{"command":"x","disabled":true}}}'],
  'cline, another port and another header': [
    'cline',
    '{\n  "mcpServers": {\n    "files": {\n      "url": "http://127.0.0.1:9/mcp/files",\n      "headers": { "X-Y": "z" },\n      "disabled": true\n    }\n  }\n}\n',
  ],
  'cursor, only a comment': ['cursor', '{\n  // nothing yet\n}\n'],
  'codex, no file': ['codex', undefined],
  'codex on Windows': ['codex', undefined, { source: { ...source, platform: 'win32' } }],
  'copilot-cli, no file': ['copilot-cli', undefined],
  'opencode, beside others': ['opencode', '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'],
  'kilo, beside the entry of another folder': [
    'kilo',
    '{\n  "mcp": {\n    "files": {\n      "type": "remote",\n      "url": "http://127.0.0.1:9/mcp/files",\n      "headers": { "Authorization": "Bearer {file:~/.minds/endpoints/other-11223344.token}" }\n    }\n  }\n}\n',
  ],
  'gemini-cli, another port': [
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
  'continue, a list in flow style': ['continue', `{ "mcpServers": [{ "name": "other", "command": "x" }] }\n`],
  'windsurf, no file': ['windsurf', undefined],
  'antigravity, no file': ['antigravity', undefined],
  'codex, comments and other tables': [
    'codex',
    `# by hand\nmodel = "o4" # kept\n\n[mcp_servers.other]\ncommand = "npx"\nargs = ["-y", "other"]\n\n[[profiles]]\nname = 'x'\n# at the end`,
  ],
  'codex, another port and what a person added': [
    'codex',
    `[mcp_servers."mine"] # ours\nenabled = true\nurl = 'http://127.0.0.1:9/mcp/files' # changed\ntool_timeout_sec = 5\n\n[mcp_servers.mine.http_headers]\n"X-Y" = "z"\n\n[mcp_servers.mcp_admin]\ncommand = "elsewhere"\n`,
  ],
};

describe('entries for other agents', () => {
  for (const agent of Object.keys(files) as AgentKind[]) {
    for (const platform of ['linux', 'win32'] as const) {
      it(`${agent}, ${platform}: import skips entries of ours and reads the others in the file (C6)`, () => {
        const { form, container } = agents[agent];
        const { after } = planned(agent, form === 'yaml' ? 'models: []\n' : undefined, {
          source: { ...source, platform },
        });
        const url = 'http://127.0.0.1:7427/mcp/other';
        const text = {
          toml: `${after}\n[mcp_servers.other]\nurl = "${url}"\n`,
          yaml: `${after}  - name: other\n    url: ${url}\n`,
          json: after.replace(`"${container}": {`, `"${container}": { "other": { "type": "remote", "url": "${url}" },`),
        }[form];
        const home = '/home/ada';
        const file = fileOf(agent, { folder: '/ws', home }) ?? assert.fail('no file');
        const found = importServers({ text, file, taken: new Set(), folders: { folder: '/ws', home } });
        assert.ok(found.kind === 'imported', JSON.stringify(found));
        assert.deepEqual(
          found.servers.map(({ id, entry }) => [id, entry.url]),
          [['other', url]],
        );
        assert.equal(found.notes.filter(({ message }) => message.includes('MCP Toolsets itself')).length, 2);
      });
    }

    it(`${agent}: import reads the references and times of such entries of other servers (C6)`, () => {
      const { form } = agents[agent];
      const { after } = planned(agent, form === 'yaml' ? 'models: []\n' : undefined, {
        toolsets: [at('other')],
        source: { ...source, platform: 'win32' },
      });
      const text = after
        .replaceAll('127.0.0.1:7427', 'mcp.example.com')
        .replaceAll('MCP_TOOLSETS_TOKEN', 'OTHER_TOKEN')
        .replaceAll('"connect"', '"run"');
      const home = '/home/ada';
      const file = fileOf(agent, { folder: '/ws', home }) ?? assert.fail('no file');
      const found = importServers({ text, file, taken: new Set(), folders: { folder: '/ws', home } });
      assert.ok(found.kind === 'imported', JSON.stringify(found));
      const [{ entry } = assert.fail('no server')] = found.servers;
      const { Authorization: header } = entry.headers ?? {};
      const isPut = !['opencode', 'kilo'].includes(agent) && entry.transport === 'streamable_http';
      if (isPut)
        assert.deepEqual({ ...Object(header), default: '' }, { prefix: 'Bearer ', env: 'OTHER_TOKEN', default: '' });
      else assert.equal(entry.transport === 'stdio' || typeof header === 'object', true);
      const { call, connect } = entry.timeouts ?? {};
      if (/timeout/.test(after)) assert.equal(call ?? connect, '10m');
    });
  }

  for (const [name, [agent, text, changes]] of Object.entries(cases)) {
    it(name, () => {
      const { after, report, entries } = planned(agent, text, changes);
      const section = (title: string, body: string): string =>
        `--- ${title}\n${body.replaceAll('\r\n', '␍\n').replaceAll('\t', '→')}\n`;
      const told = entries.map((entry) => `${entry.id} as ${entry.name}: ${entry.change}`).join('\n');
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
    const held = { files: { url: 'https://example.com/mcp/files' }, 'files-toolset': { command: 'x' } };
    const { entries, after } = planned('qwen-code', JSON.stringify({ mcpServers: held }), { toolsets: [at('files')] });
    assert.deepEqual(entries, [{ id: 'files', name: 'files-toolset-2', change: 'added' }]);
    const { mcpServers } = JSON.parse(after) as { mcpServers: Record<string, unknown> };
    assert.deepEqual({ ...mcpServers, 'files-toolset-2': undefined }, { ...held, 'files-toolset-2': undefined });
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
      const { after, entries } = planned(agent, text, { toolsets: [at('files')] });
      assert.deepEqual((JSON.parse(after) as { mcpServers: { hub: unknown } }).mcpServers.hub, entry);
      assert.equal(entries[0]?.change, 'added');
    }
    for (const text of [
      `[mcp_servers.hub]\nurl = "${url}"\nbearer_token_env_var = "HUB_TOKEN"\n`,
      `[mcp_servers.hub]\nurl = "${url}"\nhttp_headers = { Authorization = "Bearer x" }\n`,
      `[mcp_servers.hub]\nurl = "${url}"\nenv_http_headers = { Authorization = "HUB" }\n`,
    ]) {
      assert.ok(planned('codex', text, { toolsets: [at('files')] }).after.startsWith(text));
    }
    const ours = { httpUrl: url, headers: { Authorization: 'Bearer $MCP_TOOLSETS_TOKEN', 'X-Mine': 'x' } };
    const kept = planned('gemini-cli', JSON.stringify({ mcpServers: { hub: ours } }), { toolsets: [at('files')] });
    assert.equal(kept.entries[0]?.change, 'updated');
  });

  for (const tokenFile of ['/home/ada/my tok.token', '/srv/own', "/srv/it's.token", '/srv/"x".token', '/srv/ü.token']) {
    it(`existing entries are recognised, whatever the name of the token file: ${tokenFile}`, () => {
      for (const agent of Object.keys(files) as AgentKind[]) {
        const own = { source: { ...source, tokenFile }, toolsets: [at('files')] };
        const first = planned(agent, agent === 'continue' ? 'name: x\n' : '', own);
        const again = planned(agent, first.after, own);
        assert.deepEqual([again.after, again.entries[0]?.change], [first.after, 'same'], agent);
      }
    });
  }

  it('an entry in a list is updated key by key, and comments and layout stay', () => {
    const own = { toolsets: [at('files')] };
    for (const [text, expected] of [
      [
        'mcpServers:\n- name: files # my note\n  command: node # kept\n  args: # old\n    - /old/cli.js\n    - connect\n    - -C\n    - /ws\n    - files\n  # inner\n  env: { A: b } # last\n',
        'mcpServers:\n- name: files # my note\n  command: /usr/bin/node # kept\n  args: # old\n    ["/opt/mcp-toolsets/dist/cli.js","connect","-C","/ws","files"]\n  # inner\n  env: { A: b } # last\n  type: stdio\n',
      ],
      [
        'mcpServers:\n  - command: /usr/bin/node\n    type: stdio\n    name: files\n    args:\n    - x # y\n    - connect\n    - -C\n    - /ws\n    - files\n',
        'mcpServers:\n  - command: /usr/bin/node\n    type: stdio\n    name: files\n    args:\n      ["/opt/mcp-toolsets/dist/cli.js","connect","-C","/ws","files"]\n',
      ],
      [
        "mcpServers: [{ name: 'files', args: [x, connect, -C, /ws, files], command: 'x' } ] # one\n",
        `mcpServers: [{ name: 'files', args: ["/opt/mcp-toolsets/dist/cli.js","connect","-C","/ws","files"], command: /usr/bin/node, type: stdio } ] # one\n`,
      ],
    ] as const) {
      for (const lineBreak of ['\n', '\r\n']) {
        const { after } = planned('continue', text.replaceAll('\n', lineBreak), own);
        assert.equal(after, expected.replaceAll('\n', lineBreak));
      }
    }
  });

  it('an entry with another spelling of the token file’s path is recognised', () => {
    const helper = `node cli.js headers --port 7427 --token-file ${source.tokenFile}`;
    const text = JSON.stringify({
      mcpServers: { mine: { type: 'http', url: 'http://127.0.0.1:7427/mcp/files', headersHelper: helper } },
    });
    const { entries } = planned('claude-code', text, { toolsets: [at('files')] });
    assert.deepEqual(entries, [{ id: 'files', name: 'mine', change: 'updated' }]);
  });

  for (const name of ['12', 'files (mine', 'a.b', "it's", 'a "b"', 'a\\', '(a+)+$']) {
    it(`an existing entry is updated under any name: ${name}`, () => {
      for (const agent of Object.keys(files) as AgentKind[]) {
        const { form } = agents[agent];
        const beside = form === 'yaml' ? 'mcpServers:\n  - { name: other, command: x }\n' : '';
        const first = planned(agent, beside, { toolsets: [at('files', 9)] }).after;
        const old = '/old/node';
        const renamed =
          form === 'toml'
            ? first.replace('.files]', `.${JSON.stringify(name)}]`)
            : first.replace(/"files(-toolset)?": \{|name: files$/m, () =>
                form === 'yaml' ? `name: ${JSON.stringify(name)}` : `${JSON.stringify(name)}: {`,
              );
        const text = renamed.replaceAll('/usr/bin/node', old);
        assert.ok(text.includes(JSON.stringify(name)), text);
        const { entries, after } = planned(agent, text, { toolsets: [at('files')] });
        assert.deepEqual(entries, [{ id: 'files', name, change: 'updated' }], agent);
        assert.ok(!after.includes(old) && !after.includes(':9/'), after);
      }
    });
  }

  // A file of the folder may come from anyone; each comment made it twice as long before.
  it('each line of a file keeps its own line break', () => {
    const text = 'model = "x" # one\r\n# two\n[tui]\r\ny = 1\n';
    const { after } = planned('codex', text);
    assert.ok(after.startsWith(text), JSON.stringify(after));
    // Also in our table with a replaced and an inserted key.
    const own = `${text}\r\n[mcp_servers.files] # ours\r\nurl = "http://127.0.0.1:1/mcp/files" # here\n# last\r\n`;
    const there = planned('codex', own).after;
    assert.ok(
      there.startsWith(`${text}\r\n[mcp_servers.files] # ours\r\ntool_timeout_sec = 600\r\n`),
      JSON.stringify(there),
    );
    assert.ok(there.includes('\r\nurl = "http://127.0.0.1:7427/mcp/files" # here\n# last\r\n'), JSON.stringify(there));
    const last = planned('codex', own.replace(' # here\n', ' # here\r\n')).after;
    assert.ok(last.includes('\r\nurl = "http://127.0.0.1:7427/mcp/files" # here\r\n# last\r\n'), JSON.stringify(last));
  });

  it('a long line of comments behind the last entry is read in linear time (S2)', () => {
    const line = `    "a": {}${' /* one */'.repeat(30)}`;
    const { after } = planned('cursor', `{\n  "mcpServers": {\n${line} }\n}\n`);
    assert.ok(after.startsWith(`{\n  "mcpServers": {\n    "a": {}, "`), after);
    const ofOwn = planned('cursor', `{\n  "mcpServers": {\n${line} // two\n  }\n}\n`).after;
    assert.ok(ofOwn.includes(`${line.replace('{}', '{},')} // two\n    "`), ofOwn);
  }).timeout(2_000);

  it('no entry in a file also read by the editor has the name of its toolset', () => {
    for (const agent of ['claude-code', 'cursor'] as const) {
      assert.ok(planned(agent, '{}').entries.every(({ id, name }) => id.toLowerCase() !== name.toLowerCase()));
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
    ['codex', 'mcp_servers = { a = { command = "x" } }\n', /cannot be changed without touching other parts/],
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
        posixPath(fileOf(kind as AgentKind, { ...around, globalStorage: '/data/User/globalStorage' }) ?? ''),
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
    assert.equal(posixPath(fileOf('kilo', { ...around, configHome: '/c' }) ?? ''), '/c/kilo/kilo.json');
    assert.equal(posixPath(fileOf('cline', around) ?? ''), '/home/ada/.cline/data/settings/cline_mcp_settings.json');
  });
});
