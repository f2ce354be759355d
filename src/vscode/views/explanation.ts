/**
 * Makes a page of what the README says about a problem code: the row of the code, and below it the whole chapter. The
 * README itself does not serve, because the editor cannot open a preview at a place inside a document. Everything here
 * is pure.
 */
const chapter = 'When something is wrong';

export function explanation(readme: string, code: string): string {
  const lines = readme.split(/\r?\n/);
  const start = lines.indexOf(`## ${chapter}`);
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '));
  const all = start < 0 ? [] : lines.slice(start, length < 0 ? undefined : start + 1 + length);
  const row = all.find((line) => line.startsWith('|') && line.includes(`\`${code}\``));
  return [...(row ? [...page(code, row), '', '---', ''] : []), ...all].join('\n');
}

function page(code: string, row: string): string[] {
  // A bar inside a cell is written `\|`.
  const [, , meaning, todo] = row.split(/(?<!\\)\|/).map((cell) => sentence(cell.trim()));
  return [`# ${code}`, '', meaning ?? '', '', ...(todo ? [`**What to do:** ${todo}`] : [])];
}

function sentence(text: string): string {
  if (text === '') return '';
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}
