/** The pages say what the code does: every problem code has its row, every setting and key is listed. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { problemCodes } from '../../src/core/base/problem.js';
import { knownKeys } from '../../src/core/config/keys.js';
import manifest from '../../package.json';

const root = path.resolve(__dirname, '../..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const maintainers = readFileSync(path.join(root, 'src/README.md'), 'utf8');
const pages = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'src/README.md',
  'src/rules.md',
  'test/README.md',
  'test/support/editor/README.md',
];

/** The anchors of a page: what is written as one, and one for each heading, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const written = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id ?? '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...written, ...headings]);
}

describe('pages', () => {
  it('link to files and headings that are there', () => {
    const broken = pages.flatMap((page) => {
      const text = readFileSync(path.join(root, page), 'utf8').replace(/^```[^]*?^```$/gm, '');
      return [...text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g)]
        .filter(([, target = '']) => !/^[a-z]+:/.test(target))
        .filter(([, target = '', anchor]) => {
          const file = target === '' ? path.join(root, page) : path.resolve(root, path.dirname(page), target);
          if (!existsSync(file)) return true;
          return anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).has(anchor);
        })
        .map(([link]) => `${page}: ${link}`);
    });
    assert.deepEqual(broken, []);
  });
});

describe('the map in src/README.md', () => {
  it('has a line for every room, and no line for a room that is gone', () => {
    const rooms = (folder: string): string[] =>
      readdirSync(path.join(root, 'src', folder), { withFileTypes: true }).flatMap((entry) => {
        const name = path.posix.join(folder, entry.name);
        return entry.isDirectory() ? [name, ...rooms(name)] : folder === '' && name.endsWith('.ts') ? [name] : [];
      });
    const lines = [...maintainers.matchAll(/^\| \**`([\w./]+)`\** \|.*\|.*\|$/gm)].map(([, name]) => name);
    assert.deepEqual(lines.filter((name) => name !== undefined).sort(), rooms('').sort());
  });
});

describe('the words in src/README.md', () => {
  it('stand there once each', () => {
    const [, section = ''] = maintainers.split('\n## The words\n');
    const [table = ''] = section.split('\n## ');
    const words = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = '']) => cell.split(/[,;] /));
    assert.ok(words.length > 40, words.join());
    assert.deepEqual(
      words.filter((word, index) => words.indexOf(word) !== index),
      [],
    );
  });
});

describe('README', () => {
  it('explains every problem code, under an anchor of its own, and no other', () => {
    const anchors = [...readme.matchAll(/<a id="([^"]+)"><\/a>`([^`]+)`/g)].map(([, id, code]) => {
      assert.equal(id, code);
      return id;
    });
    assert.deepEqual([...anchors].sort(), [...problemCodes].sort());
  });

  it('lists every key of a server', () => {
    for (const key of knownKeys.server) assert.match(readme, new RegExp(`\`${key}[\`.]`), key);
  });

  it('lists every command', () => {
    const [, section = ''] = readme.split('\n## Commands and sidebar\n');
    const text = (section.split('\n## ')[0] ?? '').replace(/\s+/g, ' ');
    const titles = manifest.contributes.commands.map(({ title }) => title.replace('…', ''));
    assert.deepEqual(
      titles.filter((title) => !text.includes(title)),
      [],
    );
  });

  it('lists every setting with its default', () => {
    for (const [name, { default: value }] of Object.entries(manifest.contributes.configuration.properties)) {
      assert.ok(
        readme.includes(`| \`${name}\` | \`${typeof value === 'object' ? JSON.stringify(value) : String(value)}\` |`),
        name,
      );
    }
  });
});
