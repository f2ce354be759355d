import assert from 'node:assert/strict';
import { oneLine } from '../../../src/core/base/inert.js';
import type { StdioLaunch } from '../../../src/core/config/model.js';
import { causeOfDeath, commandLine, commandNotStarted, endedBeforeAnswer } from '../../../src/core/failures/stdio.js';

const launch: StdioLaunch = { transport: 'stdio', command: 'server', args: ['-v'], cwd: '/project', env: new Map() };

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
    const { message } = endedBeforeAnswer({ launch, remains }, { kind: 'exited', exit: { code: 1, signal: null } });
    assert.equal(
      oneLine(message),
      'exited with code 1: two Command: `server -v`. Last on stderr: “one” “two” The cause is in its last output, if there is any.',
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
      ['Traceback (most recent call last):', '  File "x.py", line 1', "ModuleNotFoundError: No module named 'x'"],
      "ModuleNotFoundError: No module named 'x'",
    ],
    ['the first error of npm', ['npm error code E404', 'npm error A complete log is in /x'], 'npm error code E404'],
    ['the last words, where nothing is an error', ['starting', 'no config file', ''], 'no config file'],
  ];
  for (const [what, stderr, line] of firstLines) {
    it(`the first line is ${what}`, () => {
      const ending = { kind: 'exited', exit: { code: 1, signal: null } } as const;
      const { message } = endedBeforeAnswer({ launch, remains: { stderr, stray: [], sawMessage: false } }, ending);
      assert.equal(message.split('\n', 1)[0], `exited with code 1: ${line}`);
    });
  }

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
    assert.equal(commandLine({ ...launch, args: ['a b', '', '"'] }), '`server "a b" "" "\\""`');
    assert(commandLine({ ...launch, args: ['x'.repeat(1000)] }).length < 210);
  });
});
