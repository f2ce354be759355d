/**
 * Names from servers and files cannot control the terminal (S1d): escape sequences and line breaks
 * appear as numbers.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { complain, misuse, print, report, toJson } from '../../../src/cli/output.js';
import { problemLine, resultTexts, statusTable, toolsTable } from '../../../src/cli/render.js';
import { servedTool, snapshot, status } from '../vscode/views/statuses.js';

const hostile = 'x\u001b[2J\u009b31m\u0007\u202e\r\nname';
const steering = /[\0-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

function written(run: () => unknown): string {
  let text = '';
  const streams = [process.stdout, process.stderr];
  const own = streams.map((stream) => stream.write.bind(stream));
  for (const stream of streams)
    stream.write = ((chunk: string) => ((text += chunk), true)) as never;
  try {
    run();
  } finally {
    streams.forEach((stream, index) => (stream.write = own[index] as never));
  }
  return text;
}

describe('what the command line prints (S1d)', () => {
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  const problem = {
    code: 'name-taken',
    severity: 'error',
    message: hostile,
    fix: hostile,
    place: { file: hostile, range },
  } as const;
  const servers = [
    status('a', {
      tools: [servedTool(hostile)],
      excluded: [{ original: hostile, reason: { kind: 'blacklist', pattern: hostile } }],
      state: { kind: 'failed', since: 0, reason: hostile, fix: hostile },
    }),
  ];
  const outputs: readonly (readonly [string, () => unknown])[] = [
    ['print', () => print(hostile)],
    ['complain', () => complain(hostile)],
    ['misuse', () => misuse(hostile)],
    ['report', () => report(false, [problem])],
    ['report as JSON', () => report(true, [problem])],
    ['status', () => print(statusTable(snapshot(servers)))],
    ['tools', () => print(toolsTable(servers))],
    ['a result', () => resultTexts({ content: [{ type: 'text', text: hostile }] }).forEach(print)],
  ];
  for (const [what, run] of outputs)
    it(`${what}: no control characters`, () => assert.doesNotMatch(written(run), steering));

  it('a name of a server stays on its line', () => {
    assert.equal(problemLine(problem).split('\n').length, 1);
    assert.equal(toolsTable(servers).split('\n').length, 3);
    assert.equal(statusTable(snapshot(servers)).split('\n').length, 2);
  });

  it('JSON output has the same values', () => {
    const value = { [hostile]: [hostile, '\u{e0041}'] };
    assert.doesNotMatch(toJson(value), /[\u007f-\u009f\u202e]|\u{e0041}/u);
    assert.deepEqual(JSON.parse(toJson(value)), value);
  });

  it('only one module writes to the terminal', () => {
    const folder = path.resolve(__dirname, '../../../src');
    const files = ['cli.ts', ...readdirSync(path.join(folder, 'cli')).map((file) => `cli/${file}`)];
    const writers = files.filter((file) =>
      /\b(?:stdout|stderr)\.write|\bconsole\./.test(readFileSync(path.join(folder, file), 'utf8')),
    );
    assert.deepEqual(writers, ['cli/output.ts']);
  });
});
