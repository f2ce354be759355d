/** Every rule cited by number in a comment, a test or a page is in `src/rules.md`. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '../..');
const rules = readFileSync(path.join(root, 'src/rules.md'), 'utf8');
const known = [...rules.matchAll(/^### (\S+)$/gm)].map(([, number]) => number ?? '');

/**
 * A letter of a chapter and a number, without neighbours. Parts of words, ids and character classes
 * do not match.
 */
const citation = /(?<![\w\-.#'"/\\[])[CNRLXVGESDHP]\d{1,2}[a-z]?(?![\w\-\]=])/g;
/** The engine, not a rule. */
const noRules = new Set(['V8']);

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory())
      return ['workspaces', 'golden'].includes(entry.name) ? [] : filesBelow(full);
    return /\.(ts|mjs|md)$/.test(entry.name) ? [full] : [];
  });
}

describe('rules', () => {
  it('Each rule has a unique number, in the order of the chapters', () => {
    assert.deepEqual(
      known.filter((number, index) => known.indexOf(number) !== index),
      [],
    );
    const chapters = [...rules.matchAll(/^## ([A-Z])\. /gm)].map(([, letter]) => letter);
    assert.deepEqual([...new Set(known.map((number) => number[0]))], chapters);
  });

  it('Each rule has at most 120 words, so that a reader can take it in at once', () => {
    const texts = rules.split(/^### /m).slice(1);
    const long = texts
      .map((text) => text.split(/^## /m)[0] ?? '')
      .map((text): [string, number] => [
        text.split('\n')[0] ?? '',
        text.split(/\s+/).filter(Boolean).length - 1,
      ])
      .filter(([, words]) => words > 120);
    assert.deepEqual(long, []);
  });

  it('Each cited rule exists', () => {
    const files = [
      ...readdirSync(root)
        .filter((name) => name.endsWith('.md'))
        .map((name) => path.join(root, name)),
      ...['docs', 'src', 'test'].flatMap((name) => filesBelow(path.join(root, name))),
    ];
    const missing = files.flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          (line.match(citation) ?? [])
            .filter((number) => !known.includes(number) && !noRules.has(number))
            .map(
              (number) =>
                `${path.relative(root, file)}:${index + 1} cites ${number}, which src/rules.md does not have.`,
            ),
        ),
    );
    assert.deepEqual(missing, []);
  });
});
