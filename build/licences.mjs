/**
 * Collects the licences of the packages whose code is in the bundles, because each copy of the code
 * must have them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Fails for a package without a licence.
 *
 * @param {string} root the repository
 * @param {import('esbuild').Metafile[]} metafiles of everything that is built
 * @returns {Promise<string>} the text of the file
 */
export async function licencesOf(root, metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((each) => Object.keys(each.inputs)),
  );
  const folders = inputs.flatMap(
    (input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0] ?? [],
  );
  const texts = await Promise.all(
    [...new Set(folders)]
      .sort((a, b) => (a < b ? -1 : 1))
      .map((folder) => licenceOf(join(root, folder))),
  );
  const head = 'MCP Toolsets contains code of these packages, under these licences.\n';
  return [head, ...texts].join(`\n${'-'.repeat(80)}\n\n`);
}

async function licenceOf(folder) {
  const { name, version, license, author } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  );
  const names = (await readdir(folder))
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    .sort();
  const texts = await Promise.all(names.map((file) => readFile(join(folder, file), 'utf8')));
  if (texts.length === 0) {
    // Some packages only name this licence. Its terms are the same everywhere.
    if (license !== 'MIT') throw new Error(`${folder} has no licence, so it must not be bundled.`);
    texts.push(
      `MIT License\n\nCopyright (c) ${author?.name ?? author ?? `the authors of ${name}`}\n\n${mitTerms}`,
    );
  }
  return `${name} ${version} (${license})\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`;
}

const mitTerms = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;
