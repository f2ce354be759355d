import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { problemCodes } from '../../../support/problemCodes.js';
import { assertGolden } from '../../../support/golden.js';
import { parseMcprc } from '../../../../src/core/config/read/mcprc.js';
import { codes, parse, configDeps } from '../fixtures.js';
import { renderSource } from '../renderConfig.js';

const folder = path.join(import.meta.dirname, '../../../golden/config');
const mcprcFolder = path.join(import.meta.dirname, '../../../golden/mcprc');
const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => {
    const text = readFileSync(path.join(folder, name), 'utf8');
    return { name: path.basename(name, '.yaml'), text, parsed: parse(text) };
  });

describe('mistakes of a whole file and of one entry: one golden file a rule (C4)', () => {
  for (const { name, text, parsed } of cases) {
    it(name, () => assertGolden(path.join(folder, `${name}.txt`), renderSource(parsed, text)));
  }

  it('every problem of one config file has a case', () => {
    // Codes with tests elsewhere: one for reading the disk, one for another form, one for two files
    // (sources.test.ts), and two for hundreds of entries (parse.test.ts).
    const elsewhere = [
      ...[
        'file-unreadable',
        'json-syntax',
        'id-in-other-folder',
        'problems-left-out',
        'too-many-servers',
      ],
    ];
    const last = problemCodes.indexOf('id-in-other-folder');
    const ofOneFile = problemCodes.slice(0, last).filter((code) => !elsewhere.includes(code));
    const seen = new Set(cases.flatMap(({ parsed }) => codes(parsed.problems)));
    assert.deepEqual(
      ofOneFile.filter((code) => !seen.has(code)),
      [],
    );
  });

  for (const name of readdirSync(mcprcFolder).filter((each) => each.endsWith('.json'))) {
    it(`.mcprc: ${path.basename(name, '.json')} (C5)`, () => {
      const text = readFileSync(path.join(mcprcFolder, name), 'utf8');
      const source = { file: '/ws/.mcprc', folder: '/ws', origin: 'mcprc', text } as const;
      const rendered = renderSource(parseMcprc(source, configDeps), text);
      assertGolden(path.join(mcprcFolder, name.replace(/json$/, 'txt')), rendered);
    });
  }

  it('no golden file shows a secret', () => {
    for (const { name, parsed } of cases) {
      for (const { message, fix } of parsed.problems) {
        // Values hold this word in the cases; these are the words of the product.
        const own =
          /`secret(?:: GITHUB_TOKEN)?`|`\{ secret: \w+ \}`|`\$\{\{ secrets\.LAB_KEY \}\}`|`mcp-toolsets secret set |Set Secret…|The secret `|for the secret|the secret itself/g;
        assert.doesNotMatch(`${message} ${fix}`.replace(own, ''), /secret/i, name);
      }
    }
  });
});
