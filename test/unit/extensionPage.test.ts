/** The editor's page for the extension: README.md without parts that cannot work there. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { extensionPage } from '../../build/extensionPage.mjs';

describe('extension page', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'extension-page-'));
    mkdirSync(path.join(folder, 'docs'));
    writeFileSync(path.join(folder, 'docs', 'config.md'), '# The config file\n');
  });
  after(() => rmSync(folder, { recursive: true }));

  const pageOf = (readme: string): string => {
    writeFileSync(path.join(folder, 'README.md'), readme);
    return extensionPage(folder);
  };

  it('The extension page leaves out parts for the repository, and has the parts for the page', () => {
    const readme =
      'a\n\n<!-- repository -->\nRun `npm ci`.\n<!-- /repository -->\nb\n\n<!-- extension\n```text\nc\n```\n-->\n\n<!-- extension d -->\n';
    assert.equal(pageOf(readme), 'a\n\nb\n\n```text\nc\n```\n\nd\n');
    assert.equal(pageOf(readme.replaceAll('\n', '\r\n')), pageOf(readme));
  });

  it('The extension page has no picture without an address', () => {
    const remote = '![c](https://host.example/c.png)';
    assert.equal(pageOf(`a\n\n![b](media/b.png)\n\n${remote}\n`), `a\n\n${remote}\n`);
  });

  it('The extension page has the text of a link to a page, or the title of the page if the text is its path', () => {
    const written =
      'See [the keys](docs/config.md#keys), [docs/config.md](docs/config.md) and [config.md](docs/config.md).';
    assert.equal(pageOf(written), 'See the keys, *The config file* and *The config file*.');
  });

  it('The extension page keeps working links: to its own headings and to the web', () => {
    const written = 'See [below](#below) and [the protocol](https://host.example/).';
    assert.equal(pageOf(written), written);
  });

  it('The extension page of README.md has no comment, no relative link, no repository step, and only linked headings', () => {
    const page = extensionPage(path.resolve(__dirname, '../..'));
    assert.doesNotMatch(page, /<!--|npm ci|npm run/);
    const dead = [...page.matchAll(/\]\((?!https:)([^)]*)\)/g)].map(([, target = '']) => target);
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
    const anchors = headings.map(
      (heading) =>
        `#${heading
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-')}`,
    );
    assert.deepEqual(
      dead.filter((target) => !anchors.includes(target)),
      [],
    );
  });
});
