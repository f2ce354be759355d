/**
 * Each recipe of docs/recipes.md runs as it is written there: its files, its commands, and what a
 * person sees. Only what no test may reach is replaced: addresses of remote servers by the fixtures,
 * and packages of a registry by those of this repository.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { repository } from '../../support/core/bundles.js';
import { apart, CommandLine } from '../../support/core/commandLine.js';
import { startHttpFixture, type HttpServer } from '../../support/core/httpServers.js';
import { issuerOf } from '../../support/core/person.js';
import { recordDays } from '../../support/core/recordedUse.js';
import { startProxy } from '../../support/core/proxy.js';
import { suiteNotHere } from '../../support/notHere.js';

/** A part of a recipe: a file to write, commands to run, or lines that their output has. */
type Part = Readonly<
  { kind: 'file'; name: string; text: string } | { kind: 'run' | 'see'; text: string }
>;

const page = readFileSync(path.join(repository, 'docs/recipes.md'), 'utf8');
const storage = readFileSync(path.join(repository, 'docs/storage.md'), 'utf8');
const recipes = new Map(
  page
    .split('\n## ')
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), partsOf(text)] as const),
);

function partsOf(text: string): Part[] {
  const blocks = text.matchAll(/(?:^`([^`\n]+)`:\n\n)?^```(\w+)\n([^]*?)^```$/gm);
  return [...blocks].map(([, name, language = '', block = '']): Part => {
    if (name !== undefined) return { kind: 'file', name, text: block };
    assert.ok(language === 'sh' || language === 'text', `a block of ${language} without a file`);
    return { kind: language === 'sh' ? 'run' : 'see', text: block };
  });
}

/** A line of the page: `…` is any text, and any blanks are blanks. */
function seen(line: string): RegExp {
  const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const words = line
    .trim()
    .split(/\s+/)
    .map((word) => (word === '…' ? '.*' : literal(word)));
  return new RegExp(`^\\s*${words.join('\\s*')}`, 'm');
}

/** Makes the folder of a path. */
function madeFor(file: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  return file;
}

/** A server over stdio with one tool that counts its calls, in place of the package of the name. */
const browser = `#!/usr/bin/env node
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
if (!process.argv.includes('--isolated') || !process.argv.includes('--headless')) process.exit(1);
let pages = 0;
const server = new McpServer({ name: 'browser', version: '1' });
server.registerTool('browser_navigate', {}, () => ({
  content: [{ type: 'text', text: \`pages: \${++pages}\` }],
}));
await server.connect(new StdioServerTransport());
`;

describe('recipes', function () {
  suiteNotHere(this, process.platform === 'win32', 'The commands are for a shell of POSIX.');
  this.timeout(120_000);

  let cli: CommandLine;
  let outside: string;
  const servers: HttpServer[] = [];
  const clients: Client[] = [];
  const tested = new Set<string>();

  beforeEach(async () => {
    cli = await CommandLine.open();
    cli.approves = false;
    outside = path.dirname(cli.folder);
    const bin = path.join(outside, 'bin');
    mkdirSync(bin);
    const [script = ''] = cli.commandOf().args;
    const program = path.join(bin, 'mcp-toolsets');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
    chmodSync(program, 0o755);
    Object.assign(cli.env, {
      PATH: [bin, path.dirname(process.execPath), cli.env['PATH']].join(path.delimiter),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'user.name',
      GIT_CONFIG_VALUE_0: 'Ada',
      GIT_CONFIG_KEY_1: 'user.email',
      GIT_CONFIG_VALUE_1: 'ada@example.com',
    });
    goHome(cli.home);
    // `npx` looks above the folder for its packages, so no test needs a registry.
    for (const name of ['sdk', 'server-filesystem'])
      symlinkSync(
        path.join(repository, 'node_modules/@modelcontextprotocol', name),
        madeFor(path.join(outside, 'node_modules/@modelcontextprotocol', name)),
      );
    link('mcp-server-filesystem', '@modelcontextprotocol/server-filesystem/dist/index.js');
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    const kept = path.join(cli.home, '.minds');
    for (const name of existsSync(kept) ? readdirSync(kept) : [])
      assert.ok(storage.includes(`\`~/.minds/${name}`), `docs/storage.md does not name ${name}`);
    try {
      await cli.close();
    } finally {
      for (const server of servers.splice(0)) await server.stop();
    }
  });

  after(() => {
    assert.deepEqual([...tested].sort(), [...recipes.keys()].sort(), 'every recipe has a test');
  });

  function goHome(home: string): void {
    writeFileSync(madeFor(path.join(home, '.npmrc')), 'offline=true\nupdate-notifier=false\n');
    cli.useHome(home);
  }

  function link(program: string, script: string): void {
    const folder = path.join(outside, 'node_modules');
    symlinkSync(path.join('..', script), madeFor(path.join(folder, '.bin', program)));
  }

  async function serve(name: string, ...args: string[]): Promise<string> {
    const server = await startHttpFixture(name, args, process.env);
    servers.push(server);
    return server.url;
  }

  interface Circumstances {
    /** Texts of the page and what stands in their place. */
    readonly instead?: Readonly<Record<string, string>>;
    /** Called before the commands of a block, by the number of the block. */
    readonly before?: (block: number) => void | Promise<void>;
  }

  /** Follows a recipe to its end. Resolves with the output of its last commands. */
  async function follow(
    title: string,
    { instead = {}, before }: Circumstances = {},
  ): Promise<string> {
    tested.add(title);
    const written = (text: string): string =>
      Object.entries(instead).reduce((all, [from, to]) => all.replaceAll(from, to), text);
    let output = '';
    let block = 0;
    for (const part of recipes.get(title) ?? assert.fail(`no recipe ${title}`)) {
      if (part.kind === 'file') {
        writeFileSync(madeFor(path.join(cli.folder, part.name)), written(part.text));
      } else if (part.kind === 'run') {
        await before?.(block++);
        output = await shell(written(part.text));
      } else {
        for (const line of part.text.trimEnd().split('\n'))
          assert.match(output, seen(line), output);
      }
    }
    return output;
  }

  /** Nobody is at a terminal here, so the person's yes is an option. */
  async function shell(script: string, cwd = cli.folder): Promise<string> {
    const agreed = script.replace(/^(mcp-toolsets (?:approve|entries .*--write))$/gm, '$1 --yes');
    const child = spawn('sh', ['-c', agreed], { cwd, env: cli.env, ...apart });
    const { stdout, stderr } = await cli.finishBeside(child);
    return `${stdout}${stderr}`;
  }

  /** The engine writes the record after the answer. */
  async function recorded(command: string, calls: number): Promise<void> {
    while (((await shell(command)).match(/^.* ok /gm) ?? []).length < calls);
  }

  /** Starts an entry of an agent's file as the agent does. */
  async function agent(
    { command, args }: { readonly command: string; readonly args: readonly string[] },
    cwd: string,
  ): Promise<Client> {
    const client = new Client({ name: 'agent', version: '1' });
    const env = cli.env as Record<string, string>;
    await client.connect(new StdioClientTransport({ command, args: [...args], cwd, env }));
    clients.push(client);
    return client;
  }

  const names = async (client: Client): Promise<string[]> =>
    (await client.listTools()).tools.map(({ name }) => name);

  it('Recipe: CI, and its workflow runs the same check', async () => {
    await follow('CI');
    const text = readFileSync(path.join(cli.folder, '.github/workflows/tools.yml'), 'utf8');
    const workflow = parseYaml(text) as { jobs: { tools: { steps: { run?: string }[] } } };
    const steps = workflow.jobs.tools.steps.flatMap(({ run = '' }) => run);
    assert.equal(steps.at(-1), 'mcp-toolsets check --start --approve');
    const unset = await shell(`${steps.at(-1)}; echo "code $?"`);
    assert.match(unset, /error secret-unset: .*TRACKER_TOKEN[^]*code 1/);
  });

  it('Recipe: Pin a version, and nothing else changes', async () => {
    await follow('Pin a version');
    assert.match(
      readFileSync(cli.file, 'utf8'),
      /args: \['-y', '@modelcontextprotocol\/server-filesystem@\d+\.\d+\.\d+', '\.'\]\n$/,
    );
  });

  it('Recipe: Lock the tools of a team, whose check fails after a change (S3d)', async () => {
    await shell('git init -q');
    await follow('Lock the tools of a team');
    const lock = path.join(cli.folder, '.minds/mcp.lock');
    const text = readFileSync(lock, 'utf8');
    writeFileSync(lock, text.replace(/("description": ")./, '$1_'));
    const changed = await shell('mcp-toolsets check --start; echo "code $?"');
    assert.match(changed, /lock-differs: "files" .*\(description changed\)[^]*code 1/);
  });

  it('Recipe: Codex in a worktree, which starts the entry in it', async () => {
    await shell('git init -q');
    await follow('Codex in a worktree');
    const feature = path.join(outside, 'feature');
    const file = parseToml(readFileSync(path.join(feature, '.codex/config.toml'), 'utf8')) as {
      mcp_servers: Record<string, { command: string; args: string[] }>;
    };
    const entry = file.mcp_servers['toolsets'] ?? assert.fail(JSON.stringify(file));
    const codex = await agent(entry, feature);
    assert.ok((await names(codex)).includes('files_read_text_file'));
    const { content } = (await codex.callTool({
      name: 'files_list_directory',
      arguments: { path: '.' },
    })) as { content: { text: string }[] };
    assert.match(content[0]?.text ?? '', /\.codex/, 'the server works in the worktree');
    await recorded('mcp-toolsets calls -C ../feature', 1);
  });

  it('Recipe: A team with one file, in the clone of a colleague', async () => {
    await shell('git init -q');
    const own = cli.home;
    const folder = cli.folder;
    await follow('A team with one file', {
      before: async (block) => {
        if (block === 0) return;
        await shell('git clone -q . ../colleague');
        goHome(path.join(outside, 'home of a colleague'));
        Object.defineProperty(cli, 'folder', { value: path.join(outside, 'colleague') });
      },
    });
    assert.notEqual(cli.home, own);
    assert.notEqual(cli.folder, folder);
  });

  it('Recipe: A company proxy, for a server behind it', async () => {
    const url = await serve('http', '--tools', 'echo');
    const proxy = await startProxy({ 'tickets.example': new URL(url).host });
    try {
      await follow('A company proxy', {
        instead: {
          'https://tickets.example': 'http://tickets.example',
          'HTTP_PROXY=http://proxy.example:8080': `HTTP_PROXY=${proxy.url}`,
          'HTTPS_PROXY=http://proxy.example:8080': `HTTPS_PROXY=${proxy.url}`,
          '/etc/ssl/company.pem': path.join(repository, 'test/fixtures/servers/shared/tls-ca.pem'),
        },
      });
      assert.ok(
        proxy.seen.some((line) => line.includes('tickets.example')),
        proxy.seen.join(),
      );
    } finally {
      await proxy.close();
    }
  });

  it('Recipe: An OAuth server, for a person and for a program', async () => {
    const url = await serve('oauth');
    await follow('An OAuth server', {
      instead: {
        'https://tracker.example/mcp': url,
        'https://auth.example': await issuerOf(url),
        'my-program': 'program',
        'the-secret-of-the-client': 'secret-of-the-program',
      },
    });
  });

  it('Recipe: One browser for each chat', async () => {
    const folder = path.join(outside, 'node_modules/@playwright/mcp');
    mkdirSync(folder, { recursive: true });
    const manifest = { name: '@playwright/mcp', version: '0.0.1', type: 'module', bin: 'index.js' };
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(path.join(folder, 'index.js'), browser, { mode: 0o755 });
    link('mcp', '@playwright/mcp/index.js');
    const said: string[] = [];
    const open = async (chat: Client): Promise<void> => {
      const { content } = (await chat.callTool({ name: 'browser_navigate', arguments: {} })) as {
        content: { text: string }[];
      };
      said.push(content[0]?.text.split('\n')[0] ?? '');
    };
    const calls = await follow('One browser for each chat', {
      before: async (block) => {
        if (block === 0) return;
        const entry = { command: 'mcp-toolsets', args: ['connect', 'browser'] };
        const [one, other] = [await agent(entry, cli.folder), await agent(entry, cli.folder)];
        for (const chat of [one, one, other]) await open(chat);
        await recorded('mcp-toolsets calls --server browser', 3);
      },
    });
    assert.deepEqual(said, ['pages: 1', 'pages: 2', 'pages: 1']);
    const conversations = calls.matchAll(/browser_navigate.*?conversation (\w+)/g);
    assert.equal(new Set([...conversations].map(([, id]) => id)).size, 2, calls);
  });

  it('Recipe: One tool renamed, which agents call under the new name', async () => {
    await follow('One tool renamed');
    const { content } = (await (
      await agent({ command: 'mcp-toolsets', args: ['connect'] }, cli.folder)
    ).callTool({ name: 'show_note', arguments: { path: '.minds/mcp.yaml' } })) as {
      content: { text: string }[];
    };
    assert.match(content[0]?.text ?? '', /show_note/);
    const tools = await shell('mcp-toolsets tools files');
    assert.doesNotMatch(tools, /^files +read_text_file/m);
    const others = [...tools.matchAll(/^files +(\S+)$/gm)].map(([, name]) => name);
    assert.ok(others.length > 5 && others.includes('write_file'), tools);
  });

  it('Recipe: Keep out what nobody calls', async () => {
    const tools = ['read_text_file', 'list_directory'];
    await recordDays({ folder: cli.folder, home: cli.home, toolset: 'files', tools, days: 60 });
    await follow('Keep out what nobody calls');
    const left = await shell('mcp-toolsets tools files');
    assert.deepEqual(
      [...left.matchAll(/^files +(\w+)$/gm)].map(([, name]) => name).sort(),
      tools.sort(),
    );
  });

  it('Recipe: Allow some calls of a tool', async () => {
    await follow('Allow some calls of a tool');
    assert.deepEqual(
      ['notes/a.txt', 'b.txt'].map((file) => existsSync(path.join(cli.folder, file))),
      [true, false],
    );
  });

  it('Recipe: Moving from mcp.json', async () => {
    await follow('Moving from mcp.json');
    assert.match(readFileSync(cli.file, 'utf8'), /server-filesystem/);
  });

  it('Recipe: An argument that is always the same, and that agents do not see', async () => {
    await follow('An argument that is always the same');
    const client = await agent({ command: 'mcp-toolsets', args: ['connect', 'files'] }, cli.folder);
    const tool = (await client.listTools()).tools.find(({ name }) => name === 'list_directory');
    assert.deepEqual(Object.keys(tool?.inputSchema.properties ?? {}), []);
    assert.equal(tool?.description, 'Lists the files of the project.');
  });

  it('Recipe: A token in no file, and no other file gets it', async () => {
    const url = await serve(
      'http',
      '--require-token',
      'a-token-of-your-tracker',
      '--tools',
      'echo',
    );
    await follow('A token in no file', { instead: { 'https://tracker.example/mcp': url } });
    assert.match(
      await shell('mcp-toolsets status --approve'),
      /tracker .*http-unauthorized|no value/,
    );
    const kept = await shell("grep -rl a-token-of-your-tracker . '../home'; echo end");
    assert.equal(kept.replace(/^grep: .*\n/gm, '').trim(), 'end');
  });
});
