/**
 * The real servers and the requests to them. Five are devDependencies. `programs.json` pins the
 * others. npm installs them without their scripts into `MCP_TOOLSETS_SERVERS` or the cache of the
 * user.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repository } from '../support/core/bundles.js';
import { cacheFolder, commandIn, installPinned } from '../support/pinnedPrograms.js';
import type { Era } from '../../src/core/protocol/versions.js';
import type { Fields } from './peer.js';
import pinned from './programs.json';

export interface Ask {
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read' | 'completion/complete';
  readonly params: Fields;
  /** Matches the changing parts of the answer, such as a time. */
  readonly varies?: RegExp;
  /** True if the answer depends on calls before it. */
  readonly depends?: boolean;
}

export interface RealServer {
  readonly id: string;
  readonly package: string;
  /** True if it also speaks 2026-07-28. */
  readonly isModern?: boolean;
  /** @param data a folder of the server, filled by `seed` */
  readonly args?: (data: string) => readonly string[];
  readonly env?: (data: string) => Readonly<Record<string, string>>;
  /** Its arguments and variables for HTTP on this port. Absent: it speaks over stdio. */
  readonly port?: (port: string) => {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
  /** Before the names of its tools. */
  readonly prefix?: string;
  /** True if it asks for roots at once and its answers depend on them. */
  readonly needsRoots?: boolean;
  readonly asks: (data: string) => readonly Ask[];
}

type More = Pick<Ask, 'varies' | 'depends'>;

const call = (name: string, args: Fields = {}, more: More = {}): Ask => ({
  method: 'tools/call',
  params: { name, arguments: args },
  ...more,
});
const prompt = (name: string, args: Fields = {}): Ask => ({
  method: 'prompts/get',
  params: { name, arguments: args },
});
const read = (uri: string, more: More = {}): Ask => ({
  method: 'resources/read',
  params: { uri },
  ...more,
});

const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const after: More = { depends: true };
const timed: More = { varies: time, depends: true };
/** A time in English. */
const clock: More = { varies: /\d?\d:\d\d:\d\d [AP]M/g };
const official = (name: string): string => `@modelcontextprotocol/server-${name}`;
const ada = { name: 'Ada', entityType: 'person', observations: ['wrote the first program'] };
const engine = { name: 'Engine', entityType: 'machine', observations: [] };
const relation = { from: 'Ada', to: 'Engine', relationType: 'programmed' };
/** One pixel. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The servers of `npm test`, without an install. */
export const installedServers: readonly RealServer[] = [
  {
    id: 'everything',
    package: official('everything'),
    asks: () => [
      call('echo', { message: 'hello' }),
      call('get-sum', { a: 2, b: 3 }),
      call('get-tiny-image'),
      call('get-structured-content', { location: 'Chicago' }),
      call('get-annotated-message', { messageType: 'error', includeImage: true }),
      call('get-resource-links', { count: 3 }),
      call('get-resource-reference', { resourceType: 'Text', resourceId: 1 }, clock),
      call('get-roots-list'),
      call('trigger-elicitation-request'),
      call('trigger-sampling-request', { prompt: 'Say something', maxTokens: 20 }),
      call('trigger-long-running-operation', { duration: 0.1, steps: 2 }),
      call('echo'),
      call('no-such-tool'),
      prompt('simple-prompt'),
      prompt('args-prompt', { city: 'Paris' }),
      prompt('no-such-prompt'),
      read('demo://resource/static/document/architecture.md'),
      read('demo://resource/dynamic/text/1', clock),
      {
        method: 'completion/complete',
        params: {
          ref: { type: 'ref/prompt', name: 'completable-prompt' },
          argument: { name: 'department', value: 'E' },
        },
      },
    ],
  },
  {
    id: 'filesystem',
    package: official('filesystem'),
    // The server takes the root of the client in place of its arguments, so they are the same.
    args: (data) => [path.dirname(data)],
    asks: (data) => [
      call('list_allowed_directories'),
      call('read_text_file', { path: path.join(data, 'hello.txt') }),
      call('read_media_file', { path: path.join(data, 'pixel.png') }),
      call('read_multiple_files', {
        paths: [path.join(data, 'hello.txt'), path.join(data, 'missing.txt')],
      }),
      call('list_directory', { path: data }, after),
      call('write_file', { path: path.join(data, 'new.txt'), content: 'new' }, after),
      call(
        'edit_file',
        { path: path.join(data, 'new.txt'), edits: [{ oldText: 'new', newText: 'old' }] },
        after,
      ),
      call('search_files', { path: data, pattern: '**/*.txt' }, after),
      call('read_text_file', { path: path.resolve('/', 'etc', 'hostname') }),
    ],
  },
  {
    id: 'roots',
    package: official('filesystem'),
    prefix: 'roots_',
    needsRoots: true,
    asks: (data) => [
      call('list_allowed_directories'),
      call('list_directory', { path: data }),
      call('read_text_file', { path: path.join(data, 'hello.txt') }),
    ],
  },
  {
    id: 'memory',
    package: official('memory'),
    env: (data) => ({ MEMORY_FILE_PATH: path.join(data, 'memory.jsonl') }),
    asks: () => [
      call('open_nodes', { names: ['nobody'] }),
      call('create_entities', { entities: [ada, engine] }, after),
      call('create_relations', { relations: [relation] }, after),
      call(
        'add_observations',
        { observations: [{ entityName: 'Ada', contents: ['was a countess'] }] },
        after,
      ),
      call('search_nodes', { query: 'countess' }, after),
      call('read_graph', {}, after),
      call('add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] }),
    ],
  },
  {
    id: 'clock',
    package: official('basic-vanillajs'),
    port: (port) => ({ env: { PORT: port } }),
    asks: () => [
      call('get-time', {}, { varies: time }),
      read('ui://get-time/mcp-app.html'),
      call('no-such-tool'),
    ],
  },
  {
    id: 'monitor',
    package: official('system-monitor'),
    port: (port) => ({ env: { PORT: port } }),
    asks: () => [
      call('get-system-info', {}, { varies: /\d+/g }),
      read('ui://system-monitor/mcp-app.html'),
      call('no-such-tool'),
    ],
  },
];

const pinnedServers: readonly RealServer[] = [
  {
    id: 'thinking',
    package: official('sequential-thinking'),
    asks: () => [
      call(
        'sequentialthinking',
        { thought: 'one', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 },
        after,
      ),
      call(
        'sequentialthinking',
        { thought: 'two', nextThoughtNeeded: false, thoughtNumber: 2, totalThoughts: 2 },
        after,
      ),
      call('sequentialthinking', { thought: 'three' }),
    ],
  },
  {
    id: 'knowledge',
    package: pinned.programs['knowledge-graph'].package,
    prefix: 'knowledge_',
    args: (data) => ['--memory-path', path.join(data, 'knowledge.jsonl')],
    asks: () => [
      call('open_nodes', { names: ['nobody'] }),
      call('create_entities', { entities: [ada, engine] }, timed),
      call('create_relations', { relations: [relation] }, timed),
      call('search_nodes', { query: 'Ada' }, timed),
      call('read_graph', {}, timed),
      call('no_such_tool'),
    ],
  },
  {
    id: 'shrimp',
    package: pinned.programs.shrimp.package,
    env: (data) => ({ DATA_DIR: data, TEMPLATES_USE: 'en' }),
    asks: () => [
      call('list_tasks', { status: 'all' }),
      call('plan_task', { description: 'Compare a server with itself' }),
      call('query_task', { query: 'nothing' }),
      call('init_project_rules'),
      call('get_task_detail', { taskId: 'none' }),
      call('clear_all_tasks', { confirm: false }),
    ],
  },
  {
    id: 'calc',
    package: pinned.programs.calc.package,
    asks: () => [
      call('math', { expression: '2^10' }),
      call('hash', { input: 'a', algorithm: 'sha256' }),
      call('base64', { input: 'grüße 🌍', action: 'encode' }),
      call('color', { color: '#ff0000' }),
      call('diff', { text1: 'a\nb', text2: 'a\nc' }),
      call('regex', { pattern: '(a)(b)?', text: 'ab a', action: 'matchAll' }),
      call('semver', { action: 'compare', version: '1.2.3', version2: '1.10.0' }),
      call('math'),
      call('hash', { input: 1 }),
    ],
  },
  {
    id: 'onepassword',
    package: pinned.programs.onepassword.package,
    isModern: true,
    asks: () => [
      call('vault_list'),
      call('password_generate', { length: 12 }, { varies: /password\\": .*?\\n/g }),
      call('op_check_ref', { secretReference: 'op://a/b/c' }),
      call('password_generate', { length: 'long' }),
      prompt('generate-secure-password', { purpose: 'a database' }),
      read('1password://config'),
      read('1password://nothing'),
      call('no_such_tool'),
    ],
  },
  {
    id: 'context7',
    package: pinned.programs.context7.package,
    isModern: true,
    // A port without a listener: no call leaves this machine.
    env: () => ({ CONTEXT7_API_URL: 'http://127.0.0.1:9' }),
    port: (port) => ({ args: ['--transport', 'http', '--port', port] }),
    asks: () => [
      call('resolve-library-id', { query: 'how to begin', libraryName: 'react' }),
      call('query-docs'),
      call('no-such-tool'),
    ],
  },
  {
    id: 'zeron',
    package: pinned.programs.zeron.package,
    env: (data) => ({ HOME: data }),
    asks: () => [
      call('list_available_services'),
      call('list_connections'),
      call('get_service_info', { service: 'github' }),
      call('dispatch_rules'),
      call('get_service_info'),
    ],
  },
];

export const allServers: readonly RealServer[] = [...installedServers, ...pinnedServers];

export const transportOf = ({ port }: RealServer): 'stdio' | 'http' => (port ? 'http' : 'stdio');

export const erasOf = ({ isModern }: RealServer): readonly Era[] =>
  isModern ? ['legacy', 'modern'] : ['legacy'];

/** Installs the server if it is missing. Resolves with its script. */
export async function scriptOf(server: RealServer): Promise<string> {
  const [id, pin] =
    Object.entries(pinned.programs).find(([, each]) => each.package === server.package) ?? [];
  if (id === undefined || !pin) return commandIn(repository, server.package);
  const root = cacheFolder('MCP_TOOLSETS_SERVERS', 'mcp-toolsets-servers');
  return commandIn(
    await installPinned(root, id, pin, { before: pinned.before, runsScripts: false }),
    pin.package,
  );
}

/** Fills the folder of a server with the same files each time. */
export function seed(data: string): void {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(path.join(data, 'folder'), { recursive: true });
  writeFileSync(path.join(data, 'hello.txt'), 'hello\nfrom the folder\n');
  writeFileSync(path.join(data, 'folder', 'inner.txt'), 'inner');
  writeFileSync(path.join(data, 'pixel.png'), Buffer.from(png, 'base64'));
}
