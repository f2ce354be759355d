/**
 * Makes the page that the editor and the marketplaces show, from `README.md`. The editor drops
 * every picture and link that has no `https:` address, so the page has none of them. Once the
 * repository has an address, vsce can complete them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The title has no link to other languages. The text between `<!-- repository -->` and `<!-- /repository -->` is left out. The text in `<!--
 * extension … -->` is on this page only. A link to a page becomes its own words, or the title under
 * which *Open Documentation…* lists the page.
 *
 * @param {string} root the repository
 * @returns {string} Markdown
 */
export function extensionPage(root) {
  const read = (name) => readFileSync(join(root, name), 'utf8').replaceAll('\r\n', '\n');
  const titleOf = (name) => `*${/^# (.+)$/m.exec(read(name))[1]}*`;
  return read('README.md')
    .replace(/^(# .+) · \[[^\]]+\]\([^)]+\)$/m, '$1')
    .replace(/^<!-- repository -->\n[^]*?^<!-- \/repository -->\n/gm, '')
    .replace(/^<!-- extension\s([^]*?)-->$/gm, (_, text) => text.trim())
    .replace(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n+/gm, '')
    .replace(/(?<!!)\[([^\]]+)\]\((?!https:|#)([^)#]+)[^)]*\)/g, (_, words, target) =>
      target.endsWith(words) ? titleOf(target) : words,
    );
}
