/** What is said to people: guesses at causes, misspelt commands, answers to initialize, the trace. */
import assert from 'node:assert/strict';
import type { StdioLaunch } from '../../../src/core/config/model.js';
import { nearestName } from '../../../src/core/connections/stdio/commandSearch.js';
import { isWithinOrigin, shown } from '../../../src/core/connections/http/exchange.js';
import { httpFailure } from '../../../src/core/connections/http/startFailures.js';
import { readInitializeAnswer } from '../../../src/core/connections/handshake.js';
import { likelyCause } from '../../../src/core/connections/stdio/likelyCause.js';
import {
  causeOfDeath,
  commandLine,
  commandNotStarted,
  endedBeforeAnswer,
} from '../../../src/core/connections/stdio/startFailures.js';
import { TrafficTrace } from '../../../src/core/connections/logging.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

const launch: StdioLaunch = { transport: 'stdio', command: 'server', args: ['-v'], cwd: '/project', env: new Map() };

describe('likely cause', () => {
  const cases: [words: string, cause: RegExp][] = [
    [
      "npm error code E404\nnpm error 404 Not Found - GET https://example.com/@x%2fy\nnpm error 404  '@x/y@latest' is not in this registry.",
      /npm did not find the package/,
    ],
    ['npm error could not determine executable to run', /no command that npx could run/],
    ['npm ERR! code ENOTFOUND', /could not reach its registry \(ENOTFOUND\)/],
    ["Error: Cannot find module '/srv/index.js'", /Node did not find \/srv\/index\.js/],
    ["python: can't open file '/srv/x.py': [Errno 2]", /Python did not find the file \/srv\/x\.py/],
    ["ModuleNotFoundError: No module named 'mcp'", /Python has no module mcp/],
    ['× No solution found when resolving tool dependencies', /uv did not find/],
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock.', /Docker is not running/],
    ["Unable to find image 'x:latest' locally", /Docker did not find the image/],
    ['Error: listen EADDRINUSE: address already in use :::3000', /port that it wants is taken/],
    ['GITHUB_PERSONAL_ACCESS_TOKEN not set', /miss a variable/],
    ['Please set BRAVE_API_KEY', /miss a variable/],
    ['Error: API key is required', /miss a variable/],
    ['SyntaxError: Unexpected token ?', /another version of Node/],
    ['error: unknown option --foo', /does not take these arguments/],
    ['Usage: server <dir>', /does not take these arguments/],
    ['sh: 1: frobnicate: command not found', /is not installed/],
    ['something else entirely', /What it wrote before/],
  ];
  for (const [words, cause] of cases) {
    it(words.split('\n')[0] ?? '', () => {
      assert.match(likelyCause({ code: 1, signal: null }, words.split('\n')).cause, cause);
    });
  }

  it('without words: by code and signal', () => {
    for (const [code, signal, cause] of [
      [0, null, /may not be an MCP server/],
      [126, null, /not allowed to run/],
      [127, null, /did not find the command/],
      [null, 'SIGKILL', /for want of memory/],
      [null, 'SIGSEGV', /or crashed/],
    ] as const) {
      assert.match(likelyCause({ code, signal }, []).cause, cause);
    }
  });
});

describe('nearest command', () => {
  const names = ['node', 'npm', 'npx', 'uv', 'uvx', 'python3', 'docker', 'playwright-mcp'];
  for (const [wanted, nearest] of [
    ['npxx', 'npx'],
    ['nppx', 'npx'],
    ['nxp', 'npx'],
    ['dokcer', 'docker'],
    ['Docker', 'docker'],
    ['pyton3', 'python3'],
    ['playright-mpc', 'playwright-mcp'],
    ['uvxx', 'uvx'],
    ['git', undefined],
    ['something', undefined],
  ] as const) {
    it(`${wanted} → ${nearest}`, () => assert.equal(nearestName(wanted, names), nearest));
  }
});

describe('answer to initialize', () => {
  const right = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {}, own: { a: 1 } },
    serverInfo: { name: 'n', version: '1' },
  };

  it('is right in every known version', () => {
    for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const answer = readInitializeAnswer({ ...right, protocolVersion, instructions: 'Do.', extra: 1 });
      assert.deepEqual(answer, {
        kind: 'right',
        facts: { ...right, protocolVersion, instructions: 'Do.' },
      });
    }
  });

  for (const [what, answer, detail] of [
    ['nothing', undefined, 'is not an object but nothing'],
    ['a list', [1], 'is not an object but [1]'],
    ['no version', { ...right, protocolVersion: 5 }, 'names no protocol version'],
    ['no capabilities', { ...right, capabilities: [] }, 'has no capabilities'],
    ['no server', { ...right, serverInfo: null }, 'has no serverInfo'],
    ['a nameless server', { ...right, serverInfo: { version: '1' } }, 'has a serverInfo without name and version'],
  ] as const) {
    it(`is wrong with ${what}`, () => assert.deepEqual(readInitializeAnswer(answer), { kind: 'wrong', detail }));
  }
});

describe('words of endings', () => {
  const remains = { stderr: ['one', 'two'], stray: [], sawMessage: true };

  it('of connections', () => {
    assert.equal(
      causeOfDeath({ kind: 'exited', exit: { kind: 'exited', code: null, signal: 'SIGSEGV' } }, remains),
      'The server process was ended by SIGSEGV. Its last line on stderr: two',
    );
    assert.equal(
      causeOfDeath({ kind: 'streamClosed', stream: 'output' }, { ...remains, stderr: [] }),
      'The server process closed its output.',
    );
  });

  it('of starts: bounded, whatever the server wrote', () => {
    const long = Array.from({ length: 20 }, (_, n) => `${n} ${'x'.repeat(500)}`);
    const exit = { kind: 'exited', code: 1, signal: null } as const;
    const { message } = endedBeforeAnswer(
      { launch, remains: { stderr: long, stray: long, sawMessage: false } },
      { kind: 'exited', exit },
    );
    assert(message.length < 5000);
    assert(message.includes('19 xxx') && !message.includes('\n  13 xxx'));
  });

  it('of commands that the system does not start', () => {
    const error = Object.assign(new Error('spawn ENOEXEC'), { code: 'ENOEXEC' });
    assert.deepEqual(commandNotStarted(launch, error), {
      code: 'command-not-executable',
      message:
        '"server" could not be started (ENOEXEC). It is not a program for this system, or a script without a first line that names its interpreter.',
      fix: 'Name the interpreter as command (e.g. node or python3) and the file in args.',
      path: ['command'],
    });
  });

  it('of command lines: quoted where one would have to, and not endless', () => {
    assert.equal(commandLine({ ...launch, args: ['a b', '', '"'] }), '`server "a b" "" "\\""`');
    assert(commandLine({ ...launch, args: ['x'.repeat(1000)] }).length < 210);
  });

  it('of encryption', () => {
    const http = { transport: 'streamable_http', url: 'https://a/', headers: new Map(), sessionId: '' } as const;
    const failure = (code: string) =>
      httpFailure(http, { kind: 'unreachable', code, detail: 'says so', url: 'https://a/' });
    assert.match(failure('ERR_TLS_CERT_ALTNAME_INVALID').message, /for another host name/);
    assert.match(failure('CERT_NOT_YET_VALID').message, /not valid yet/);
    assert.match(failure('UNABLE_TO_VERIFY_LEAF_SIGNATURE').message, /signed by nobody/);
    assert.equal(failure('ERR_SSL_SOMETHING').code, 'http-tls');
    assert.equal(failure('EHOSTUNREACH').code, 'http-unreachable');
  });
});

describe('origins', () => {
  const within = (a: string, b: string): boolean => isWithinOrigin(new URL(a), new URL(b));

  it('are scheme, host and port, or the encrypted form of all that', () => {
    assert(within('http://a/x', 'http://a/y?z'));
    assert(within('http://a/x', 'https://a/y'));
    assert(!within('https://a/x', 'http://a/y'));
    assert(!within('http://a:8080/x', 'https://a/y'));
    assert(!within('http://a/x', 'https://a:8443/y'));
    assert(!within('http://a/x', 'http://b/y'));
    assert(!within('http://a/x', 'http://sub.a/y'));
  });

  it('are shown without secrets', () => {
    assert.equal(shown(new URL('https://user:pass@a:1/path?key=1#x')), 'https://a:1/path');
  });
});

describe('trace', () => {
  it('pairs answers with questions, both ways, and writes nothing while it is off', () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    let on = false;
    const trace = new TrafficTrace({
      clock,
      log: { write: (level, text) => lines.push(`${level} ${text}`) },
      enabled: () => on,
    });
    trace.sent({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    on = true;
    trace.received({ jsonrpc: '2.0', id: 1, result: { tools: [] } });
    trace.sent({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'x' } });
    trace.received({ jsonrpc: '2.0', id: 2, method: 'ping' });
    clock.advance(12);
    trace.sent({ jsonrpc: '2.0', id: 2, result: {} });
    trace.received({ jsonrpc: '2.0', id: 2, error: { code: -1, message: 'no' } });
    trace.received({ jsonrpc: '2.0', method: 'notifications/x', params: { text: 'y'.repeat(9000) } });
    const last = lines.pop() ?? '';
    assert(last.length < 4100 && last.endsWith('…'));
    assert.deepEqual(lines, [
      'trace ← answer #1 {"tools":[]}',
      'trace → tools/call #2 {"name":"x"}',
      'trace ← ping #2 {}',
      'trace → ping #2 12 ms {}',
      'trace ← tools/call #2 12 ms error {"code":-1,"message":"no"}',
    ]);
  });
});
