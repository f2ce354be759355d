/**
 * SECURITY.md promises only behaviour with a rule, is easy to find, and names all places that keep
 * secrets.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readRules } from './citations.js';

const root = path.resolve(__dirname, '../..');
const textOf = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const page = textOf('SECURITY.md');
const known = new Set(readRules(textOf('src/rules.md')).map(({ id }) => id));

function section(title: string): string {
  return (
    new RegExp(`^## ${title}\\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(page)?.[1] ?? assert.fail(title)
  );
}

describe('SECURITY.md', () => {
  it('SECURITY.md cites an existing rule for each promise', () => {
    const promises = section('Promises')
      .split(/\n(?=- )/)
      .slice(1);
    assert.ok(promises.length >= 12);
    for (const promise of promises) {
      const text = promise.split('\n\n')[0]?.trim() ?? '';
      const cited = [...text.matchAll(/\(([A-Z]\d+[a-z]?)\)/g)].map(([, number]) => number ?? '');
      assert.ok(cited.length > 0, `no rule is cited: ${text}`);
      assert.deepEqual(
        cited.filter((number) => !known.has(number)),
        [],
        text,
      );
      assert.match(text, /\)\.?$|\)\.\s/, text);
    }
  });

  it('SECURITY.md says how to report, names the limits of approval, and lists the places of secrets', () => {
    assert.match(section('Reporting a vulnerability'), /privately/);
    for (const words of ['npx', '@latest', 'script', 'sandbox', 'token file']) {
      assert.ok(section('Limits').includes(words), words);
    }
    const places = section('Storage of tokens and secrets');
    for (const words of [
      'secret storage',
      '~/.minds/endpoints/',
      'artifacts/mcp/',
      'Logs',
      'agent host',
      'Entries',
    ]) {
      assert.ok(places.includes(words), words);
    }
  });

  it('The README links to SECURITY.md, and both packages have it beside the pages of docs', () => {
    assert.match(textOf('README.md'), /\]\(SECURITY\.md\)/);
    for (const list of ['.vscodeignore', '.npmignore']) {
      for (const pages of ['SECURITY.md', 'docs/*.md'])
        assert.ok(textOf(list).split('\n').includes(`!${pages}`), list);
    }
  });
});
