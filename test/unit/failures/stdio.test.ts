import assert from 'node:assert/strict';
import { oneLine } from '../../../src/core/base/inert.js';
import { literal } from '../../../src/core/config/model.js';
import type { StdioLaunch } from '../../../src/core/config/model.js';
import {
  causeOfDeath,
  clueOf,
  commandLine,
  commandNotStarted,
  endedBeforeAnswer,
  neverAnswered,
  faultOfAnswer,
  packageMissing,
} from '../../../src/core/failures/stdio.js';

const launch: StdioLaunch = {
  transport: 'stdio',
  command: 'server',
  args: [literal('-v')],
  cwd: '/project',
  env: new Map(),
};

describe('words of endings', () => {
  const remains = { stderr: ['one', 'two'], stray: [], sawMessage: true };

  it('of connections', () => {
    assert.equal(
      causeOfDeath({ kind: 'exited', exit: { code: null, signal: 'SIGSEGV' } }, remains),
      'The server process was ended by SIGSEGV. Its last line on stderr: “two”',
    );
    assert.equal(
      causeOfDeath({ kind: 'streamClosed', stream: 'output' }, { ...remains, stderr: [] }),
      'The server process closed its output.',
    );
  });

  it('of starts: bounded, whatever the server wrote', () => {
    const long = Array.from({ length: 20 }, (_, n) => `${n} ${'x'.repeat(500)}`);
    const exit = { code: 1, signal: null };
    const { message } = endedBeforeAnswer(
      { launch, remains: { stderr: long, stray: long, sawMessage: false } },
      { kind: 'exited', exit },
    );
    assert(message.length < 5000);
    assert(message.includes('\n  “19 xxx') && !message.includes('\n  “13 xxx'));
  });

  it("a start failure separates its words from the server's, even on one line", () => {
    const { message } = endedBeforeAnswer(
      { launch, remains },
      { kind: 'exited', exit: { code: 1, signal: null } },
    );
    assert.equal(
      oneLine(message),
      'exited with code 1: two. Command: `server -v`. Last on stderr: “one” “two” The cause is in its last output.',
    );
  });

  const firstLines: readonly (readonly [what: string, lines: readonly string[], line: string])[] = [
    [
      'the error that Node prints',
      [
        '/x.js:5',
        "throw new Error('no config')",
        '      ^',
        '',
        'Error: no config',
        '    at main (/x.js:5:7)',
        '',
        'Node.js v22.1.0',
      ],
      'Error: no config',
    ],
    [
      'the error of Python',
      [
        'Traceback (most recent call last):',
        '  File "x.py", line 1',
        "ModuleNotFoundError: No module named 'x'",
      ],
      "ModuleNotFoundError: No module named 'x'",
    ],
    [
      'the first error of npm',
      ['npm error code E404', 'npm error A complete log is in /x'],
      'npm error code E404',
    ],
    [
      'inside a frame',
      [
        "Try 'x --help' for help.",
        '╭─ Error ───────────────────╮',
        "│ Missing option '--token'. │",
        '╰───────────────────────────╯',
      ],
      "Missing option '--token'.",
    ],
    [
      'below a heading in a border of ASCII',
      [
        '=============',
        ' FATAL ERROR ',
        '=============',
        'The license has ended.',
        '=============',
      ],
      'The license has ended.',
    ],
    [
      'behind the location of a panic',
      [
        "thread 'main' panicked at src/main.rs:12:30:",
        'No region',
        'note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace',
      ],
      'No region',
    ],
    [
      'joined to the end of its heading',
      ['error: the following required arguments were not provided:', '  --token <TOKEN>'],
      'error: the following required arguments were not provided: --token <TOKEN>',
    ],
    [
      'of Docker itself, and not of the download before it',
      ["Unable to find image 'x:latest' locally", 'It broke', "See 'docker run --help'."],
      'It broke',
    ],
    [
      'the last words, where nothing is an error',
      ['starting', 'no config file', ''],
      'no config file',
    ],
  ];
  for (const [what, stderr, line] of firstLines) {
    it(`the first line is ${what}`, () => {
      const ending = { kind: 'exited', exit: { code: 1, signal: null } } as const;
      const { message } = endedBeforeAnswer(
        { launch, remains: { stderr, stray: [], sawMessage: false } },
        ending,
      );
      const whole = line.endsWith('.') ? line : `${line}.`;
      assert.equal(message.split('\n', 1)[0], `exited with code 1: ${whole}`);
    });
  }

  const failed = { kind: 'exited', exit: { code: 1, signal: null } } as const;
  const messageOf = (stderr: readonly string[]): string =>
    endedBeforeAnswer({ launch, remains: { stderr, stray: [], sawMessage: false } }, failed)
      .message;

  it('the line that names the error is quoted, and not the frames and brackets behind it', () => {
    const message = messageOf([
      '/srv/node_modules/hubspot/index.js:12',
      "    throw new Error('x')",
      '    ^',
      'Error: HubSpot access token is required. Set PRIVATE_APP_ACCESS_TOKEN in your environment variables and retry.',
      '    at Object.<anonymous> (/srv/index.js:12:11)',
      '    at Module.load (node:internal/modules/cjs/loader:1207:32)',
      '    at Function.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:141:12)',
      '}',
      'Node.js v20.20.2',
    ]);
    assert.match(
      message,
      /“Error: HubSpot access token is required\. Set PRIVATE_APP_ACCESS_TOKEN in /,
    );
    assert.doesNotMatch(message, /Module\.load|executeUserEntryPoint|Node\.js v20|“}”/);
  });

  it('an error above a long usage is quoted with the lines behind it', () => {
    const usage = Array.from({ length: 36 }, (_, n) => `  --option-${n}   sets it`);
    const message = messageOf([
      'Error: No access token was provided.',
      '',
      'Usage: sentry-mcp',
      ...usage,
    ]);
    assert.match(
      message,
      /On stderr it wrote:\n {2}“Error: No access token was provided\.”\n {2}“Usage: sentry-mcp”\n/,
    );
    assert.doesNotMatch(message, /option-35/);
  });

  it('a quoted line shows no secret behind a colour, also if a word stands before it (E4b)', () => {
    const message = messageOf([`Error: using\u001b[33mghp_${'a1B2c3D4e5'.repeat(3)}\u001b[39m`]);
    assert.match(message, /Error: using•••/);
    assert.doesNotMatch(message, /a1B2/);
  });

  it('quoted lines have no colours, and one space in place of many', () => {
    const message = messageOf([
      '\u001b[31mERROR\u001b[39m info [options]                         get information',
    ]);
    assert.match(message, /: ERROR info \[options\] get information\.\n/);
    assert.doesNotMatch(message, /Last on stderr/, 'a single line is quoted once');
  });

  it('a server that never answers gets the clue of its output', () => {
    const stderr = ['Error: getaddrinfo ENOTFOUND mcp.stripe.com'];
    const { message, fix } = neverAnswered(
      { launch, remains: { stderr, stray: [], sawMessage: false } },
      20_000,
    );
    assert.match(message, /It cannot reach mcp\.stripe\.com \(ENOTFOUND\)\.$/);
    assert.match(fix, /^Check the network or the proxy/);
  });

  it('a server that never answers is not said to have written nothing if a line has no end, or is JSON-RPC', () => {
    const none = { stderr: [], stray: [], sawMessage: false };
    const answer = neverAnswered(
      { launch, remains: { ...none, unfinished: '{"jsonrpc":"2.0"' } },
      4000,
    );
    assert.match(answer.message, /has no end:\n {2}“\{"jsonrpc":"2\.0"”\n.*this one has none/);
    const prompt = neverAnswered(
      { launch, remains: { ...none, unfinished: 'Enter token:' } },
      4000,
    );
    assert.match(prompt.message, /“Enter token:”\nIt may be another kind of program/);
    for (const { message } of [
      answer,
      prompt,
      neverAnswered({ launch, remains: { ...none, sawMessage: true } }, 4000),
    ])
      assert.doesNotMatch(message, /wrote nothing/);
  });

  it('a server that listens on a port in place of stdio is to be written with its URL', () => {
    const stray = ['MCP Streamable HTTP Server listening on port 3001'];
    const { message, fix } = neverAnswered(
      { launch, remains: { stderr: [], stray, sawMessage: false } },
      20_000,
    );
    assert.match(message, /It listens on port 3001\.$/);
    assert.match(fix, /`transport: streamable_http` and `url: http:\/\/127\.0\.0\.1:3001\/mcp`/);
  });

  it('an error of a list gets the clue of the output', () => {
    const facts = {
      launch,
      remains: { stderr: ['connect ECONNREFUSED 127.0.0.1:6379'], stray: [], sawMessage: true },
    };
    assert.equal(
      clueOf(facts, 'fetch failed')?.cause,
      'It cannot reach 127.0.0.1:6379 (ECONNREFUSED).',
    );
    assert.equal(
      clueOf({ ...facts, remains: { ...facts.remains, stderr: [] } }, 'Internal error'),
      undefined,
    );
  });

  it('a fetching launcher is not waited for after its start was ended', () => {
    const npx = { ...launch, command: 'npx' };
    const { fix } = neverAnswered(
      { launch: npx, remains: { stderr: [], stray: [], sawMessage: false } },
      20_000,
    );
    assert.match(fix, /^Raise timeouts\.connect/);
  });

  it('a launcher of packages without a package is not started', () => {
    const found = packageMissing({ ...launch, command: 'npx', args: [literal('-y')] });
    assert.equal(found?.message, 'did not start: npx needs the name of a package.');
    assert.match(found.fix, /`args: \['-y', 'some-server'\]`/);
    assert.match(
      packageMissing({ ...launch, command: '/usr/bin/uvx', args: [] })?.fix ?? '',
      /`args: \['some-server'\]`/,
    );
    assert.equal(
      packageMissing({ ...launch, command: 'npx', args: ['-y', 'x'].map(literal) }),
      undefined,
    );
    assert.equal(packageMissing({ ...launch, args: [] }), undefined);
  });

  it('an answer that cannot be read is named, and an echo or a log is none (X1a)', () => {
    for (const [line, fault] of [
      ['data: {"jsonrpc":"2.0","id":0,"error":{}}', /beside/],
      ['{"jsonrpc":"2.0","id":0,"result":{}} done', /beside/],
      ['{"jsonrpc":"2.0","id":0,"result":{}}{"jsonrpc":"2.0","method":"x"}', /beside/],
      ['{"jsonrpc": "2.0",', /several lines/],
      ["  jsonrpc: '2.0',", /several lines/],
      ["{'jsonrpc': '2.0', 'id': 0, 'result': {}}", /not as JSON/],
    ] as const) {
      assert.match(faultOfAnswer(line) ?? '', fault, line);
    }
    for (const line of [
      '> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}',
      '{"level":"debug","response":{"jsonrpc":"2.0","id":0,"result":{}}}',
      'It speaks JSON-RPC 2.0',
    ]) {
      assert.equal(faultOfAnswer(line), undefined, line);
    }
  });

  it('a start fails by the answer that could not be read, before any other clue (X1a)', () => {
    const remains = {
      stderr: ['API key is required'],
      stray: [],
      misread: faultOfAnswer('INFO {"jsonrpc":"2.0","id":0,"result":{}}'),
      sawMessage: false,
    };
    for (const { message, fix } of [
      neverAnswered({ launch, remains }, 4000),
      endedBeforeAnswer({ launch, remains }, failed),
    ]) {
      assert.match(message, /beside other text on the same line/);
      assert.match(fix, /one line of JSON in UTF-8/);
    }
    assert.match(clueOf({ launch, remains }, 'late')?.cause ?? '', /beside other text/);
  });

  it('of commands that the system does not start', () => {
    const error = Object.assign(new Error('spawn ENOEXEC'), { code: 'ENOEXEC' });
    assert.deepEqual(commandNotStarted(launch, error), {
      code: 'command-not-executable',
      message:
        'did not start: "server" could not be run (ENOEXEC). It is not a program for this system, or it is a script whose first line names no interpreter.',
      fix: 'Name the interpreter as command (e.g. node or python3) and the file in args.',
      path: ['command'],
    });
  });

  it('a command line is quoted if necessary, and not endless', () => {
    assert.equal(
      commandLine({ ...launch, args: ['a b', '', '"'].map(literal) }),
      '`server "a b" "" "\\""`',
    );
    assert(commandLine({ ...launch, args: [literal('x'.repeat(1000))] }).length < 210);
  });
});
