import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { problemCodes } from '../../../src/core/base/problem.js';
import { assertGolden } from '../../support/golden.js';
import { codes, parse } from './fixtures.js';
import { renderSource } from './renderConfig.js';

const folder = path.join(import.meta.dirname, '../../golden/config');
const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => {
    const text = readFileSync(path.join(folder, name), 'utf8');
    return { name: path.basename(name, '.yaml'), text, parsed: parse(text) };
  });

describe('config files: one golden file a rule (spec C1 to C4)', () => {
  for (const { name, text, parsed } of cases) {
    it(name, () => assertGolden(path.join(folder, `${name}.txt`), renderSource(parsed, text)));
  }

  it('has a case for every problem of one config file', () => {
    // The first is the reader's of the disk, the second takes two files: sources.test.ts.
    const elsewhere = ['file-unreadable', 'id-in-other-folder'];
    const last = problemCodes.indexOf('id-in-other-folder');
    const ofOneFile = problemCodes.slice(0, last).filter((code) => !elsewhere.includes(code));
    const seen = new Set(cases.flatMap(({ parsed }) => codes(parsed.problems)));
    assert.deepEqual(
      ofOneFile.filter((code) => !seen.has(code)),
      [],
    );
  });

  it('never shows a secret', () => {
    for (const { name, parsed } of cases) {
      for (const { message, fix } of parsed.problems) assert.doesNotMatch(message + fix, /secret/i, name);
    }
  });
});
