/**
 * Import of other programs' files (C6). Samples are written after public files; entries and reports
 * are golden texts.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'smol-toml';
import chinese from '../../../l10n/bundle.l10n.zh-cn.json';
import { speak } from '../../../src/core/base/language.js';
import { addServers } from '../../../src/core/config/edit/addServers.js';
import { applyEdits } from '../../../src/core/yaml/edits.js';
import { isObject } from '../../../src/core/base/isObject.js';
import { dialects, formatOfPath, type ImportFormat } from '../../../src/core/import/dialects.js';
import type { ImportNote } from '../../../src/core/import/imported.js';
import { importServers } from '../../../src/core/import/importServers.js';
import { readSource } from '../../../src/core/import/readSource.js';
import { planImport, reportText } from '../../../src/core/import/plan.js';
import { parseMindsFile } from '../../../src/core/config/read/parse.js';
import { assertGolden } from '../../support/golden.js';
import { sourceOf } from '../config/fixtures.js';

const folder = path.join(import.meta.dirname, '../../golden/import');
const around = { folder: '/ws', home: '/home/ada' };
const outside = { label: 'x', isOfEditor: false, valueOf: () => undefined, folders: around };

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(dir, entry.name);
    return entry.isDirectory() ? filesBelow(full) : entry.name === 'expected.txt' ? [] : [full];
  });
}

function imported(
  text: string,
  file: string,
  options: { format?: ImportFormat; taken?: string[] } = {},
) {
  const found = importServers({
    text,
    file,
    format: options.format,
    existing: new Map(options.taken?.map((id) => [id, {}])),
    folders: around,
  });
  assert.equal(found.kind, 'imported', found.kind === 'unreadable' ? found.reason : '');
  return found as Extract<typeof found, { kind: 'imported' }>;
}

const written = (servers: ReturnType<typeof imported>['servers'], text?: string): string =>
  applyEdits(text ?? '', addServers(text, servers) ?? assert.fail('not written'));

const secrets =
  /ghp_|hunter2|BSAabc|sk-live|abcdef0123456789|tvly-|0123456789abcdef|qwertz|ctx7sk|user:pass|lin_api|CLIENT_SECRET": "def/;

/** Settings of programs without a relation to servers. */
const programSettings =
  /^(?:numStartups|model|theme|globalShortcut|editor\.fontSize|\$schema)$|^tools\.(?:write|bash)$|^stream$|^(?:selectedAuthType|\$?version|name|schema|cache|ui|models|lsp|amp\.notifications\.enabled|amp\.tools\.disable\.0|GOOSE_\w+)(?:\.|$)/;

/** Returns the paths of all values except empty ones and null. */
function leavesOf(value: unknown, at: readonly (string | number)[] = []): (string | number)[][] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, [...at, index]));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...at, key]));
  }
  return value === null ? [] : [[...at]];
}

/** Returns a copy with another value at a path. */
function changed(value: unknown, [step, ...rest]: readonly (string | number)[]): unknown {
  if (step === undefined) {
    return typeof value === 'boolean'
      ? !value
      : typeof value === 'number'
        ? value + 1
        : `${String(value)}-changed`;
  }
  const inner = changed((value as Record<string | number, unknown>)[step], rest);
  return Array.isArray(value)
    ? value.with(Number(step), inner)
    : { ...(value as object), [step]: inner };
}

/** True if a note names the key of a value or of a part around it, or skips its server. */
function names({ kind, server, message }: ImportNote, leaf: readonly (string | number)[]): boolean {
  const named = [...message.matchAll(/`([^`]*)`/g)].flatMap(([, text = '']) => [
    text,
    ...text.split('.'),
  ]);
  const ids = leaf.slice(0, -1);
  if (kind === 'skipped' && ids.some((id) => message.startsWith(`\`${id}\``))) return true;
  if (server !== undefined && !ids.includes(server) && !message.startsWith('it was')) return false;
  const keys = leaf.slice(server === undefined ? 0 : ids.indexOf(server) + 1);
  const isArgument =
    keys[0] === 'args' && new RegExp(`argument ${Number(keys[1]) + 1}\\b`).test(message);
  return (
    isArgument ||
    (keys[0] === 'url' && message.includes('the URL')) ||
    keys.some((key) => named.includes(String(key)))
  );
}

/** What stays in Latin letters in a report: code, quoted text of the file, and names. */
const latin =
  /`[^`]*`|“[^”]*”|\([^)]*\)|VS Code|Visual Studio|Claude (?:Code|Desktop)|MCP Toolsets|\S*\/\S*/g;

describe('import (C6)', () => {
  const samples = filesBelow(folder);

  it('no sentence of a report is English in another language (E5)', () => {
    speak('zh-cn', chinese);
    try {
      const english = samples.flatMap((file) => {
        const found = imported(readFileSync(file, 'utf8'), file);
        const lines = reportText(path.basename(file), found, true).split('\n');
        return lines.filter((line) => /[A-Za-z]{2,} [a-z]{2,}/.test(line.replace(latin, '')));
      });
      assert.deepEqual(english, []);
    } finally {
      speak('en', undefined);
    }
  });

  it('import has a sample of each format', () => {
    const formats = new Set(samples.flatMap((file) => formatOfPath(file) ?? []));
    assert.deepEqual([...formats].sort(), Object.keys(dialects).sort());
  });

  for (const file of samples) {
    const name = path.relative(folder, file);
    it(`${name}: import writes the entries and the report`, () => {
      const text = readFileSync(file, 'utf8');
      const found = imported(text, file);
      const yaml = written(found.servers);
      const report = reportText(path.basename(file), found);
      assert.doesNotMatch(yaml + report, secrets);
      const variables = [...yaml.matchAll(/\benv: ([A-Za-z_]\w*)/g)].map(([, variable]) => [
        variable,
        'x',
      ]);
      const parsed = parseMindsFile(sourceOf(yaml), {
        env: Object.fromEntries(variables) as Record<string, string>,
        secret: () => 'x',
        directoryExists: () => true,
      });
      // The test gives variables the value `x`, which cannot be a whole URL.
      const wrong = parsed.problems.filter(
        ({ code, severity }) => code !== 'url-invalid' && severity !== 'hint',
      );
      assert.deepEqual(wrong, []);
      assertGolden(
        path.join(folder, name.split(path.sep)[0] ?? '', 'expected.txt'),
        `${yaml}\n---\n${report}`,
      );
    });
  }

  for (const file of samples) {
    it(`${path.relative(folder, file)}: a second import adds nothing`, () => {
      const text = readFileSync(file, 'utf8');
      const plan = (config: string | undefined) => planImport({ ...outside, text, file, config });
      const first = plan(undefined);
      assert.ok(first.kind === 'planned');
      const again = plan(first.after);
      assert.ok(again.kind === 'planned');
      assert.deepEqual([again.imported.servers, again.edits], [[], []], again.report);
      const told = again.imported.notes.filter(({ message }) =>
        message.includes('it is configured already'),
      );
      assert.equal(told.length, first.imported.servers.length, again.report);
    });
  }

  it('the report asks to remove servers that the editor would use instead of the toolsets', () => {
    const text = '{ "servers": { "a": { "command": "x" } } }';
    const file = '/ws/.vscode/mcp.json';
    const plan = (isOfEditor: boolean) =>
      planImport({ ...outside, isOfEditor, text, file, config: undefined });
    const [inEditor, elsewhere] = [plan(true), plan(false)];
    assert.ok(inEditor.kind === 'planned' && elsewhere.kind === 'planned');
    assert.match(inEditor.report, /## To do after the import\n\n- Remove these servers from x\./);
    assert.doesNotMatch(elsewhere.report, /Remove/);
  });

  it('a server that was changed after its import is imported once more, under another id', () => {
    const text = JSON.stringify({
      mcpServers: {
        'my db': { url: 'https://x/', headers: { Authorization: 'Bearer abc123def' } },
      },
    });
    const plan = (config: string) => planImport({ ...outside, text, file: '.mcp.json', config });
    const first = plan('');
    assert.ok(first.kind === 'planned');
    const second = plan(first.after.replace('    transport', '    enabled: false\n    transport'));
    assert.ok(second.kind === 'planned');
    assert.deepEqual(
      second.imported.servers.map(({ id }) => id),
      ['my-db-2'],
    );
    const third = plan(second.after);
    assert.ok(third.kind === 'planned');
    assert.match(third.report, /^- `my db`: it is configured already, as `my-db-2`\.$/m);
    assert.deepEqual(third.imported.servers, []);
  });

  for (const file of samples) {
    it(`${path.relative(folder, file)}: import translates or names every value`, () => {
      const text = readFileSync(file, 'utf8');
      const isToml = file.endsWith('.toml');
      const reading = readSource(text, isToml ? 'toml' : file.endsWith('.yaml') ? 'yaml' : 'json');
      assert.ok(typeof reading !== 'string');
      const importOf = (root: unknown) =>
        imported(isToml ? stringify(root) : JSON.stringify(root), file);
      const outcome = (found: ReturnType<typeof imported>): string =>
        `${written(found.servers)}\n${reportText('', found)}`;
      const whole = importOf(reading.root);
      // Notes know the servers of a list by their names.
      const lists = [reading.root, ...Object.values(reading.root).filter(isObject)].flatMap(
        (holder) =>
          ['mcp_servers', 'mcpServers', 'servers', 'modelContextProtocolServers'].flatMap(
            (key) => holder[key] ?? [],
          ),
      );
      const nameOf = (leaf: readonly (string | number)[]): string[] => {
        const index = leaf.find((step) => typeof step === 'number');
        const server =
          index === undefined ? undefined : (lists[index] as { name?: string } | undefined);
        return server ? [server.name ?? `server-${Number(index) + 1}`] : [];
      };
      const dropped: string[] = [];
      for (const leaf of leavesOf(reading.root)) {
        if (programSettings.test(leaf.join('.'))) continue;
        // The change of a value changes the outcome, or the report names the value.
        const steps = leaf.flatMap((step) => (step === 'mcp.inputs' ? ['mcp', 'inputs'] : [step]));
        const isNamed = whole.notes.some((note) => names(note, [...nameOf(leaf), ...steps]));
        if (!isNamed && outcome(importOf(changed(reading.root, leaf))) === outcome(whole))
          dropped.push(leaf.join('.'));
      }
      assert.deepEqual(dropped, []);
    });
  }

  it('the check of samples would notice a lost value', () => {
    const root = { mcpServers: { a: { command: 'x', args: [] } } };
    assert.deepEqual(leavesOf(root), [['mcpServers', 'a', 'command']]);
    assert.deepEqual(changed(root, ['mcpServers', 'a', 'command']), {
      mcpServers: { a: { command: 'x-changed', args: [] } },
    });
    const note: ImportNote = { kind: 'lost', server: 'a', message: '`env.B`: lost.' };
    assert.ok(names(note, ['mcpServers', 'a', 'env', 'B']));
    assert.ok(
      !names(note, ['mcpServers', 'a', 'args', 0]) && !names(note, ['mcpServers', 'b', 'env', 'B']),
    );
  });

  it('the content decides the format if the name of the file says nothing', () => {
    for (const [text, id] of [
      ['{ "servers": { "a": { "command": "x", "env": { "T": "${input:t}" } } } }', 'a'],
      ['{ "mcp": { "b": { "type": "local", "command": ["x"] } } }', 'b'],
      ['{ "mcpServers": { "c": { "command": "x" } } }', 'c'],
    ] as const) {
      assert.equal(imported(text, '/tmp/some.json').servers[0]?.id, id);
    }
    assert.equal(imported('[mcp_servers.d]\ncommand = "x"', '/tmp/some.toml').servers[0]?.id, 'd');
    assert.equal(
      imported('[[mcp.servers]]\nname = "e"\ncommand = "x"', '/tmp/some.toml').servers[0]?.id,
      'e',
    );
  });

  it('the message for an unreadable file names the line or the programs, and quotes nothing', () => {
    const read = (text: string, file: string): string => {
      const found = importServers({ text, file, folders: around });
      return found.kind === 'unreadable' ? found.reason : 'read';
    };
    assert.equal(
      read('{ "a": 1\n "ghp_x": 2 }', '.mcprc'),
      'it is not JSON: comma expected in line 2',
    );
    assert.equal(read('a = 1\nb = ghp_x', 'config.toml'), 'it is not TOML in line 2');
    assert.equal(read('[]', '.mcp.json'), 'it is not a JSON object');
    for (const file of ['x.json', 'x.yaml', 'x']) {
      const reason = read('{}', file);
      assert.match(
        reason,
        /^it is not clear which program it belongs to\. Files of Claude Desktop, .+ Crush are read/,
      );
      assert.match(reason, /`--format` names one of them$/);
    }
    assert.equal(read('a: [ghp_x\n', 'goose/config.yaml'), 'it is not YAML in line 2');
    assert.match(
      read('name = ghp_x', 'servers.conf'),
      /^it is not JSON: .+ in line 1, and it is not clear which/,
    );
  });

  describe('import guesses nothing', () => {
    const yamlOf = (root: object, file: string): string =>
      written(imported(JSON.stringify(root), file).servers);
    const reportOf = (root: object, file: string): string =>
      reportText('', imported(JSON.stringify(root), file));
    const one = (entry: object): object => ({ mcpServers: { a: { command: 'x', ...entry } } });

    it('`mcpServers` counts before `mcp`, and before the form of another program', () => {
      for (const file of ['.gemini/settings.json', 'settings.json', 'x.json', 'opencode.json']) {
        for (const mcp of [
          { allowed: ['a'] },
          { serverCommand: 'x' },
          {},
          { b: { command: 'y' } },
        ]) {
          const root = { ...one({}), mcp };
          if (file !== 'opencode.json')
            assert.match(yamlOf(root, file), /^ {2}a:\n/m, `${file} ${JSON.stringify(mcp)}`);
        }
      }
      assert.match(yamlOf(one({}), 'opencode.json'), /^ {2}a:\n/m);
      const both = { ...one({}), mcp: { b: { command: 'y' } } };
      assert.match(
        reportOf(both, 'x.json'),
        /^- `mcp`: `mcpServers` has servers too, and is used\.$/m,
      );
    });

    it('a number without a known unit sets no limit, nor does a number under a second (C6a)', () => {
      for (const [file, timeout, expected] of [
        ['x.json', 60_000, undefined],
        ['x.json', '60', undefined],
        ['.mcp.json', '60', undefined],
        ['.mcp.json', 60_000, '1m'],
        ['cline_mcp_settings.json', '60', '1m'],
        ['.mcp.json', '500ms', '500ms'],
      ] as const) {
        const { servers, notes } = imported(JSON.stringify(one({ timeout })), file);
        assert.equal(servers[0]?.entry.timeouts?.['call'], expected, `${file} ${timeout}`);
        if (expected === undefined)
          assert.match(notes.map(({ message }) => message).join(), /`timeout`/);
      }
    });

    it('the report speaks of a secret only if the file has one', () => {
      for (const value of [
        '${env:T}',
        '${T}',
        '$T',
        '{env:T}',
        '{{T}}',
        '${{ secrets.T }}',
        '%T_KEY%',
        '${input:t}',
        '$(pass t)',
      ]) {
        for (const file of [
          'x.json',
          '.mcp.json',
          'claude_desktop_config.json',
          '.mcprc',
          '.cursor/mcp.json',
        ]) {
          const root = {
            mcpServers: {
              a: { url: 'https://x.example', headers: { Authorization: `Bearer ${value}` } },
            },
          };
          const { secrets: found } = imported(JSON.stringify(root), file);
          assert.deepEqual([...found], [], `${file}: ${value}`);
          assert.doesNotMatch(reportOf(root, file), /the one in header/, `${file}: ${value}`);
          assert.match(
            reportOf(root, file) + yamlOf(root, file),
            /\bT(?:_KEY)?\b|pass t|input:t/,
            `${file}: ${value}`,
          );
        }
      }
      const inputs = [{ id: 'zone', type: 'promptString' }];
      assert.doesNotMatch(
        reportOf({ inputs, ...one({ args: ['${input:zone}'] }) }, '.mcp.json'),
        /secret/,
      );
    });

    it('a reference that the program does not expand stays, and the report names it', () => {
      const args = ['--key', '$API_KEY', '--header', 'X-Zone:${ZONE}'];
      const root = {
        mcpServers: {
          a: { command: 'npx', args, env: { ZONE: 'x' } },
          b: { command: 'sh', args: ['-c', 'x $HOME'] },
        },
      };
      for (const file of ['.mcprc', 'claude_desktop_config.json']) {
        const { servers, notes } = imported(JSON.stringify(root), file);
        assert.deepEqual(servers[0]?.entry.args, args);
        const [note, ...others] = notes;
        assert.match(
          note?.message ?? '',
          /^Replace `\$API_KEY` in argument 2 if it is a reference/,
        );
        assert.deepEqual(others, [], file);
      }
    });

    it('a reference in a variable of the entry to that variable is in the report', () => {
      const path = '/opt/bin:${PATH}';
      const { servers, notes } = imported(
        JSON.stringify(one({ env: { PATH: path } })),
        'claude_desktop_config.json',
      );
      assert.deepEqual(servers[0]?.entry.env, { PATH: path });
      assert.match(
        notes[0]?.message ?? '',
        /^Replace `\$\{PATH\}` in `env\.PATH` if it is a reference/,
      );
    });

    it('`inputs` count at every place of the file and for every program', () => {
      const inputs = [{ id: 'key', type: 'promptString', password: true }];
      const servers = { a: { command: 'x', env: { A_KEY: '${input:key}' } } };
      for (const [file, root] of [
        ['.mcp.json', { inputs, mcpServers: servers }],
        ['.cursor/mcp.json', { inputs, mcpServers: servers }],
        ['settings.json', { mcp: { inputs, servers } }],
        ['settings.json', { inputs, mcp: { servers } }],
        ['x.json', { inputs, servers }],
        ['claude_desktop_config.json', { inputs, mcpServers: servers }],
        ['.kiro/settings/mcp.json', { inputs, mcpServers: servers }],
        ['.mcprc', { inputs, mcpServers: servers }],
        ['opencode.json', { inputs, mcp: servers }],
      ] as const) {
        assert.match(
          yamlOf(root, file),
          /A_KEY: \{ secret: KEY \}/,
          `${file} ${JSON.stringify(root)}`,
        );
      }
    });

    it('Gemini CLI and Qwen Code prefer `httpUrl` to `url`, and a URL to a command', () => {
      const [httpUrl, url] = ['http://localhost:3000/mcp', 'http://localhost:3000/sse'];
      const root = {
        mcpServers: {
          b: { url, httpUrl },
          c: { command: 'npx', httpUrl },
          d: { command: 'npx', url },
        },
      };
      for (const file of ['.gemini/settings.json', '.qwen/settings.json']) {
        const { servers, notes } = imported(JSON.stringify(root), file);
        assert.deepEqual(
          servers.map(({ entry }) => entry.url),
          [httpUrl, httpUrl, url],
        );
        assert.match(
          notes.map(({ message }) => message).join('\n'),
          /^`url` means .+\n`command`: .+\n`command`: /,
        );
      }
      assert.match(reportOf(root, 'x.json'), /`c`: it has a command and a URL/);
    });

    it('settings next to the servers that forbid or restrict tools are in the report', () => {
      const servers = { my: { command: 'npx' } };
      for (const [file, root, names] of [
        ['opencode.json', { mcp: servers, permission: { 'my_rm*': 'deny' } }, ['permission']],
        [
          '.amazonq/cli-agents/dev.json',
          { mcpServers: servers, tools: ['@my/x'], toolAliases: {} },
          ['tools', 'toolAliases'],
        ],
        [
          '.amp/settings.json',
          { 'amp.mcpServers': servers, 'amp.permissions': [] },
          ['amp.permissions'],
        ],
        ['crush.json', { mcp: servers, permissions: {} }, ['permissions']],
        [
          '.gemini/settings.json',
          { mcpServers: servers, tools: { exclude: ['x'] } },
          ['tools.exclude'],
        ],
        ['.qwen/settings.json', { mcpServers: servers, excludeTools: ['x'] }, ['excludeTools']],
      ] as const) {
        const lost = imported(JSON.stringify(root), file).notes.map(({ message }) => message);
        const wanted = names.map(
          (name) => `\`${name}\` is next to the servers, and is not carried over.`,
        );
        assert.deepEqual(lost, wanted, file);
      }
    });

    it('an entry with an unknown key is imported, but not enabled', () => {
      for (const key of ['sandboxEnabled', 'headersHelper', 'dev', 'description']) {
        const [server] = imported(JSON.stringify(one({ [key]: 'x' })), '.mcp.json').servers;
        assert.equal(
          server?.entry.enabled,
          ['dev', 'description'].includes(key) ? undefined : false,
          key,
        );
      }
    });

    it('every key that disables a server does so', () => {
      for (const key of ['enabled', 'isEnabled', 'isActive', 'is_active', 'active', 'disabled']) {
        const { servers, notes } = imported(
          JSON.stringify(one({ [key]: key === 'disabled' })),
          'x.json',
        );
        assert.deepEqual([servers[0]?.entry.enabled, notes], [false, []], key);
      }
    });

    it('a number keeps its digits', () => {
      const env = { ID: '123456789012345678', VERSION: '1.10', PORT: '3000' };
      const values = Object.entries(env).map(([name, value]) => `"${name}": ${value}`);
      const entry = `{ "name": "a", "command": "x", "timeout": 90000.0, "env": { ${values.join(', ')} } }`;
      const json = `{ "mcpServers": [${entry}] }`;
      for (const [text, file] of [
        [json, '.mcp.json'],
        [`mcpServers:\n  - ${entry}\n`, '.continue/config.yaml'],
      ] as const) {
        assert.deepEqual(imported(text, file).servers[0]?.entry.env, env, text);
      }
      assert.equal(imported(json, '.mcp.json').servers[0]?.entry.timeouts?.['call'], '90s');
    });

    it('a variable without a value is in the report', () => {
      const { servers, notes } = imported(
        JSON.stringify(one({ env: { HTTP_PROXY: null, K: 'v' } })),
        'x.json',
      );
      assert.deepEqual(servers[0]?.entry.env, { K: 'v' });
      assert.deepEqual(
        notes.map(({ kind, message }) => [kind, message]),
        [['lost', '`env.HTTP_PROXY` has no value (`null`), so it is left out.']],
      );
    });

    it('an empty URL or command counts as absent', () => {
      const transportOf = (entry: object) =>
        imported(JSON.stringify({ mcpServers: { a: entry } }), 'x.json').servers[0]?.entry
          .transport;
      assert.equal(transportOf({ command: 'npx', url: '' }), 'stdio');
      assert.equal(transportOf({ command: '', url: 'https://x.example' }), 'streamable_http');
    });

    it('a header that a variable sets too asks for no other secret', () => {
      const lines = [
        '[mcp_servers.f]',
        'url = "https://x.example/mcp"',
        'bearer_token_env_var = "F_TOK"',
      ];
      const text = [...lines, 'http_headers = { authorization = "Bearer zzz123456789" }'].join(
        '\n',
      );
      const { servers, notes, secrets: found } = imported(text, '.codex/config.toml');
      assert.deepEqual(servers[0]?.entry.headers, {
        Authorization: { prefix: 'Bearer ', env: 'F_TOK' },
      });
      assert.deepEqual(
        [notes.map(({ message }) => message), [...found]],
        [['header `authorization`: `bearer_token_env_var` sets it too, and is used.'], []],
      );
    });

    it('the macros of JetBrains for folders become paths', () => {
      const { servers } = imported(
        JSON.stringify(one({ args: ['$PROJECT_DIR$/a', '$USER_HOME$/b'] })),
        '.junie/mcp/mcp.json',
      );
      assert.deepEqual(servers[0]?.entry.args, ['./a', '/home/ada/b']);
    });

    it('the word for a transport ignores case', () => {
      const transports = ['HTTP', 'STDIO', 'streamableHttp'].map((type) => {
        const entry = {
          type,
          ...(type === 'STDIO' ? { command: 'x' } : { url: 'https://x.example' }),
        };
        return imported(JSON.stringify({ mcpServers: { a: entry } }), 'x.json').servers[0]?.entry
          .transport;
      });
      assert.deepEqual(transports, ['streamable_http', 'stdio', 'streamable_http']);
    });

    it('settings of tools in an unknown form are named, and the server is not enabled', () => {
      const { servers, notes } = imported(
        JSON.stringify(one({ tools: { include: ['a'] } })),
        'x.json',
      );
      assert.equal(servers[0]?.entry.enabled, false);
      assert.equal(notes[0]?.message, '`tools.include`: there is nothing like it here.');
    });

    it('the message about an alias in place of the servers does not speak of errors', () => {
      const config =
        'version: 1\nx-servers: &s\n  a: { transport: stdio, command: x }\nservers: *s\n';
      const plan = planImport({
        ...outside,
        text: JSON.stringify(one({ args: ['y'] })),
        file: '.mcp.json',
        config,
      });
      assert.match(
        plan.kind === 'impossible' ? plan.reason : '',
        /^no server can be added below `servers`/,
      );
    });

    it('references to folders of an editor become paths', () => {
      for (const file of ['.trae/mcp.json', '.windsurf/mcp.json', 'mcp.json', '.mcp.json']) {
        const yaml = yamlOf(one({ args: ['${workspaceFolder}/s.js', '${userHome}/x'] }), file);
        assert.match(yaml, /args: \[\.\/s\.js, \/home\/ada\/x\]/, file);
      }
    });

    it('a list of tools is a whitelist', () => {
      assert.doesNotMatch(yamlOf(one({ tools: ['*'] }), 'x.json'), /tools|enabled/);
      assert.match(
        yamlOf(one({ tools: ['read_*', 'list'] }), '.mcp.json'),
        /tools: \{ whitelist: \[read_\*, list\] \}/,
      );
    });
  });

  it('taken and invalid ids are replaced, and the report names both', () => {
    const text = JSON.stringify({
      'my server': { command: 'a' },
      files: { command: 'b' },
      mcp_admin: { command: 'c' },
    });
    const { servers, notes } = imported(text, '.mcprc', { taken: ['files', 'my-server'] });
    assert.deepEqual(
      servers.map(({ id }) => id),
      ['my-server-2', 'files-2', 'mcp_admin-imported'],
    );
    assert.equal(notes.filter(({ kind }) => kind === 'changed').length, 3);
  });

  describe('import writes no secret (E4)', () => {
    const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
    const word = 'hunter2Sommer!';
    const json = (server: object, inputs: readonly object[] = []): string =>
      JSON.stringify({ inputs, servers: { a: server } });
    const program = (rest: object): string => json({ command: 'npx', ...rest });
    const asked = (more: object): object[] => [
      { id: 'p', type: 'promptString', default: word, ...more },
    ];
    const codex = (line: string): string =>
      `[mcp_servers.a]\nurl = "https://example.com/mcp"\n${line}\n`;
    const rows: readonly (readonly [string, string, string, unknown])[] = [
      ['a default for a variable that is called so', '.mcp.json', program({ env: { A_PASSWORD: `\${B:-${word}}` } }), { env: { A_PASSWORD: { env: 'B' } } }],
      ['a default behind a scheme', '.mcp.json', json({ url: 'https://example.com', headers: { Authorization: `Bearer \${T:-${word}}` } }), { headers: { Authorization: { prefix: 'Bearer ', env: 'T' } } }],
      ['a default behind an option', '.mcp.json', program({ args: ['--password', `\${P:-${word}}`] }), { args: ['--password', { env: 'P' }] }],
      ['the default of an input', '.vscode/mcp.json', json({ command: 'npx', env: { A_PASSWORD: '${input:p}' } }, asked({})), { env: { A_PASSWORD: { env: 'P' } } }],
      ['the description of an input', '.vscode/mcp.json', json({ command: 'npx', args: ['${input:p}'] }, asked({ default: 'x', description: `Such as ${token}` })), { args: [{ env: 'P', default: 'x' }] }],
      ['the name of the variable of a bearer', '.codex/config.toml', codex(`bearer_token_env_var = "${token}"`), { headers: { Authorization: { prefix: 'Bearer ', env: 'A_TOKEN' } } }],
      ['the name of the variable of a header', '.codex/config.toml', codex(`env_http_headers = { X-Key = "${token}" }`), { headers: { 'X-Key': { env: 'A_X_KEY' } } }],
      ['the name of a variable that is referred to', '.mcp.json', program({ args: [`\${${token}}`] }), { args: [{ env: 'A_ARGUMENT_1' }] }],
      ['a variable before the command', '.mcp.json', json({ command: `GITHUB_TOKEN=${token} npx -y x` }), undefined],
      ['an option behind a path', '.mcp.json', json({ command: `/usr/bin/node server.js --token ${token}` }), undefined],
      ['an option behind a path of Windows', '.mcp.json', json({ command: `C:\\tools\\mcp.exe --api-key=${token}` }), undefined],
      ['the folder', '.mcp.json', program({ cwd: `/x?token=${token}` }), { enabled: false }],
      ['the file of variables', '.vscode/mcp.json', program({ envFile: `keys/${token}` }), { enabled: false }],
      ['a word that means nothing', '.mcp.json', json({ command: 'npx', type: token }), undefined],
    ]; // oxfmt-ignore
    for (const [what, file, text, entry] of rows) {
      it(what, () => {
        const found = imported(text, file);
        const [server] = found.servers;
        const whole = `${written(found.servers)}\n${reportText('', found)}`;
        assert.ok(!whole.includes(token) && !whole.includes(word), whole);
        if (entry === undefined) assert.equal(server, undefined);
        else assert.deepEqual({ ...server?.entry, ...(entry as object) }, server?.entry);
        assert.notEqual(found.notes.length, 0);
      });
    }

    it('import keeps defaults, names and commands that only look like secrets', () => {
      const command = '/nix/store/q4w5sdhmxy7m1cpyr2jk3l0p9v8b6n5a-nodejs-22.1.0/bin/node';
      const env = { MODE: '${MODE:-development}', API_KEY: '${GITHUB_PERSONAL_ACCESS_TOKEN}' };
      const { servers } = imported(
        json({ command, cwd: '/srv/key-store/tokens', env }),
        '.mcp.json',
      );
      assert.deepEqual(servers[0]?.entry, {
        transport: 'stdio',
        command,
        cwd: '/srv/key-store/tokens',
        env: {
          MODE: { env: 'MODE', default: 'development' },
          API_KEY: { env: 'GITHUB_PERSONAL_ACCESS_TOKEN' },
        },
      });
    });
  });

  it('the result has the secrets of the file for a person to keep, and no others', () => {
    const text = JSON.stringify({
      a: {
        command: 'x',
        args: ['--token', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
        env: { MODE: 'fast' },
      },
      toolset: { url: 'ftp://x', headers: { Authorization: 'Bearer abc123def456' } },
    });
    assert.deepEqual(
      [...imported(text, '.mcprc').secrets],
      [['A_TOKEN', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a']],
    );
  });
});

describe('new servers in an existing file', () => {
  const one = [{ id: 'new', entry: { transport: 'stdio', command: 'npx', args: ['-y', "it's"] } }];
  const cases: Record<string, string> = {
    'behind the last, in its indentation, comments kept':
      '# head\nversion: 1\nservers:\n    a: # first\n        transport: stdio\n        command: x\n    # the end\n',
    'set apart by empty lines where the others are':
      'version: 1\nservers:\n  a: { transport: stdio, command: x }\n\n  # about b\n  b:\n    transport: stdio\n    command: |\n      y\n\nx-more: 1\n',
    'no servers yet': 'version: 1\nservers:\n  # none\n',
    'no key for them': 'version: 1 # one\n',
    'flow style':
      '{ "version": 1, "servers": { "a": { "transport": "stdio", "command": "x" } } }\n',
    'empty flow': 'version: 1\nservers: {} # none yet\n# the end\n',
    'empty flow in flow style': '{ version: 1, servers: {} }\n',
    'a null that is written': 'version: 1\nservers: ~ # none\n',
    'only comments': '# nothing yet\n',
    'line breaks of Windows':
      'version: 1\r\nservers:\r\n  a:\r\n    transport: stdio\r\n    command: x\r\n',
    'no line break at the end': 'version: 1\nservers:\n  a: { transport: stdio, command: x }',
  };
  for (const [name, text] of Object.entries(cases)) {
    it(name, () => {
      const edits = addServers(text, one) ?? assert.fail('not written');
      const after = applyEdits(text, edits);
      const file = path.join(
        import.meta.dirname,
        '../../golden/added',
        `${name.replace(/\W+/g, '-')}.txt`,
      );
      assertGolden(file, after.replaceAll('\r', '␍'));
    });
  }

  it('new servers are set apart in the same way with line breaks of Windows', () => {
    const closed =
      'version: 1\nservers:\n  a: { transport: stdio, command: x }\n  b: { transport: stdio, command: x }\n';
    for (const text of [closed, ...Object.values(cases).filter((each) => !each.includes('\r'))]) {
      const [after, onWindows] = [text, text.replaceAll('\n', '\r\n')].map((each) =>
        applyEdits(each, addServers(each, one) ?? assert.fail('not written')),
      );
      assert.equal(onWindows, after?.replaceAll('\n', '\r\n'));
    }
  });

  it('a file with errors stays as it is', () => {
    for (const text of [
      'version: 1\nservers: [\n',
      'servers: text\n',
      'version: 1\nservers: *x\n',
    ]) {
      assert.equal(addServers(text, one), undefined);
    }
  });
});
