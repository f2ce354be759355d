/**
 * The pages match the code: every problem code has its row, every setting and key is listed, every
 * link leads somewhere.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { assertGolden } from '../support/golden.js';
import { problemCodes } from '../support/problemCodes.js';
import { catalogue } from '../../src/core/base/problemCatalogue.js';
import { keysOf } from '../../src/core/config/keys.js';
import { manifest } from '../support/manifest.js';

const root = path.resolve(__dirname, '../..');
const textOf = (page: string): string => readFileSync(path.join(root, page), 'utf8');
const linesIn = (text: string): number => text.trimEnd().split('\n').length;
const allDocs = readdirSync(path.join(root, 'docs')).map((name) => `docs/${name}`);
/** `test/unit/languages.test.ts` compares the pages in other languages with these. */
const docs = allDocs.filter((name) => /^docs\/[\w-]+\.md$/.test(name));
const maintainers = textOf('src/README.md');
/** Every page of the repository. Workspaces and fixtures of tests contain foreign files. */
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...allDocs,
  ...['src', 'test', '.github', 'l10n'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => path.posix.join(folder, ...name.split(path.sep)))
      .filter(
        (name) => name.endsWith('.md') && !/^test\/(golden|fixtures|.*\/workspaces?)\//.test(name),
      ),
  ),
];

/** The anchors of a page: written ones, and one for each heading in GitHub's form. */
function anchorsOf(page: string): Set<string> {
  const text = proseOf(page);
  const written = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id ?? '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...written, ...headings]);
}

/** A page without its blocks of code. */
function proseOf(page: string): string {
  return textOf(page).replace(/^( *)```[^]*?^\1```$/gm, '');
}

interface Link {
  readonly written: string;
  /** A path in the repository. */
  readonly target: string;
  readonly anchor: string | undefined;
}

/** The links and pictures of a page that lead to a place in the repository. */
function linksOf(page: string): Link[] {
  return [...proseOf(page).matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g)]
    .filter(([, target = '']) => !/^[a-z]+:/.test(target))
    .map(([written, target = '', anchor]) => ({
      written,
      target: target === '' ? page : path.posix.join(path.posix.dirname(page), target),
      anchor,
    }));
}

describe('pages', () => {
  it('Pages link to existing files and headings', () => {
    const broken = pages.flatMap((page) =>
      linksOf(page)
        .filter(({ target, anchor }) => {
          if (!existsSync(path.join(root, target))) return true;
          return anchor !== undefined && !anchorsOf(target).has(anchor);
        })
        .map(({ written }) => `${page}: ${written}`),
    );
    assert.deepEqual(broken, []);
  });

  it('Pages in docs link only to pages in the packages', () => {
    const links = docs.flatMap((page) => linksOf(page).map(({ target }) => `${page}: ${target}`));
    assert.deepEqual(
      links.filter((link) => !/: (docs\/[\w-]+\.md|SECURITY\.md)$/.test(link)),
      [],
    );
  });

  it('Pages in docs are listed in the index of README.md, and README.md links to each', () => {
    const [, index = ''] = textOf('README.md').split('\n## Documentation\n');
    const listed = [
      ...(index.split('\n## ')[0] ?? '').matchAll(/^\| \[[^\]]+\]\((docs\/[^)]+)\) \|/gm),
    ];
    assert.deepEqual(listed.map(([, page]) => page).sort(), docs.sort());
  });

  it('Pages in docs begin with a title, the reader and the answer', () => {
    for (const page of docs) assert.match(textOf(page), /^# .+\n\nThis page is for /, page);
  });

  it('Pages are short enough to be read: README.md, src/README.md and an entry of CHANGELOG.md', () => {
    const [, entry = ''] = textOf('CHANGELOG.md').split(/^## .*0\.1\.0.*$/m);
    assert.ok(linesIn(entry.split(/^## /m)[0] ?? '') + 1 <= 45, 'the entry 0.1.0');
    for (const page of ['README.md', 'src/README.md'])
      assert.ok(linesIn(textOf(page)) <= 200, page);
  });
});

describe('the map in src/README.md', () => {
  it('The map has a line for every room, and no line for a missing room', () => {
    const rooms = (folder: string): string[] =>
      readdirSync(path.join(root, 'src', folder), { withFileTypes: true }).flatMap((entry) => {
        const name = path.posix.join(folder, entry.name);
        return entry.isDirectory()
          ? [name, ...rooms(name)]
          : folder === '' && name.endsWith('.ts')
            ? [name]
            : [];
      });
    const lines = [...maintainers.matchAll(/^\| \**`([\w./]+)`\** \|.*\|.*\|$/gm)].map(
      ([, name]) => name,
    );
    assert.deepEqual(lines.filter((name) => name !== undefined).sort(), rooms('').sort());
  });
});

describe('the words in src/README.md', () => {
  it('Each word in src/README.md is defined once', () => {
    const [, section = ''] = maintainers.split('\n## The words\n');
    const [table = ''] = section.split('\n## ');
    const words = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = '']) =>
      cell.split(/[,;] /),
    );
    assert.ok(words.length > 40, words.join());
    assert.deepEqual(
      words.filter((word, index) => words.indexOf(word) !== index),
      [],
    );
  });
});

function cellOf(text: string): string {
  const isOpen = /^"?(?:\{\w+\}"? ?)+$/.test(text);
  return isOpen ? '*depends on the cause*' : text.replaceAll('|', '\\|');
}

/** A row for each text. Codes of a window are not in it: their texts are in other modules. */
function tableOfMessages(): string {
  const rows = Object.entries(catalogue).map(([key, { severity, message, fix }]) => {
    const [code = ''] = key.split(':');
    return [`\`${code}\``, severity, cellOf(message), cellOf(fix)];
  });
  const head = ['code', 'severity', 'message', 'what to do'];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${lines.join('\n').replace('| --- | --- | --- | --- |', '|---|---|---|---|')}\n`;
}

describe('docs', () => {
  it('The docs explain every problem code once, under its anchor, and no other code', () => {
    const anchors = [...textOf('docs/problems.md').matchAll(/<a id="([^"]+)"><\/a>`([^`]+)`/g)].map(
      ([, id, code]) => {
        assert.equal(id, code);
        return id;
      },
    );
    assert.deepEqual([...anchors].sort(), [...problemCodes].sort());
  });

  it('The docs have each text of the catalogue of problems, field by field; UPDATE_GOLDEN=1 writes them', () => {
    const heading = '\n## Every message\n';
    const page = textOf('docs/problems.md');
    const [before = '', after = ''] = page.split(heading);
    const introduction = after.split('\n| code |')[0] ?? '';
    assertGolden(
      path.join(root, 'docs/problems.md'),
      `${before}${heading}${introduction}\n${tableOfMessages()}`,
    );
  });

  it('The docs list every key of a server', () => {
    const text = textOf('docs/config.md');
    for (const key of keysOf('server')) assert.match(text, new RegExp(`\`${key}[\`.]`), key);
  });

  it('The docs list every command', () => {
    const [, section = ''] = textOf('docs/settings.md').split('\n## Commands and sidebar\n');
    const text = (section.split('\n## ')[0] ?? '').replace(/\s+/g, ' ');
    const titles = manifest.contributes.commands.map(({ title }) => title.replace(/…|✓ /g, ''));
    assert.deepEqual(
      titles.filter((title) => !text.includes(title)),
      [],
    );
  });

  it('The docs list every setting with its default', () => {
    const text = textOf('docs/settings.md');
    for (const [name, { default: value }] of Object.entries(
      manifest.contributes.configuration.properties,
    )) {
      assert.ok(
        text.includes(
          `| \`${name}\` | \`${typeof value === 'object' ? JSON.stringify(value) : String(value)}\` |`,
        ),
        name,
      );
    }
  });
});
