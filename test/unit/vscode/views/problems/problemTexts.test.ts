import assert from 'node:assert/strict';
import { diagnosticsByFile } from '../../../../../src/vscode/views/problems/problemTexts.js';
import { file, problem } from '../statuses.js';

describe('diagnosticsByFile', () => {
  it('groups problems by file in their order', () => {
    const other = '/elsewhere/.minds/mcp.yaml';
    const { range } = problem().place;
    const files = diagnosticsByFile([
      problem({ code: 'yaml-syntax' }),
      problem({ code: 'name-taken', place: { file: other, range } }),
      problem({ code: 'env-unset' }),
    ]);
    assert.deepEqual([...files.keys()], [file, other]);
    assert.deepEqual(
      files.get(file)?.map(({ code }) => code),
      ['yaml-syntax', 'env-unset'],
    );
  });

  it('has the remedy on a separate line, the exact range and the related places', () => {
    const related = [{ message: 'Here too', place: problem().place }];
    const [entry] = diagnosticsByFile([problem({ severity: 'warning', related })]).get(file) ?? [];
    assert.deepEqual(entry, {
      range: { start: { line: 3, character: 2 }, end: { line: 3, character: 7 } },
      message: 'The variable is not set.\nSet it.',
      severity: 'warning',
      code: 'env-unset',
      related,
    });
  });

  it('shows code, names and commands in one kind of quotation marks, because the view shows no Markdown', () => {
    const message = 'Unknown key `a` of "b".';
    const fix = "Run “Set Secret…”, or write `args: ['-y']`; `*` is any text.";
    const related = [{ message: 'See `c`.', place: problem().place }];
    const [entry] = diagnosticsByFile([problem({ message, fix, related })]).get(file) ?? [];
    assert.equal(
      entry?.message,
      'Unknown key "a" of "b".\nRun "Set Secret…", or write "args: [\'-y\']"; "*" is any text.',
    );
    assert.equal(entry.related[0]?.message, 'See "c".');
  });

  it('has no entry for a file without problems', () => {
    assert.equal(diagnosticsByFile([]).size, 0);
  });
});
