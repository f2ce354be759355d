/** The arrows of the house: who may import whom. A failure says which import to take out, and where the thing belongs. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const source = path.resolve(__dirname, '../../src');

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(full) : entry.name.endsWith('.ts') ? [full] : [];
  });
}

/** The room of a file: `core/tools`, `vscode`, or the file itself where it stands alone (`core/host.ts`). */
function room(file: string): string {
  const relative = path.relative(source, file).split(path.sep);
  if (relative[0] === 'core' && relative.length > 2) return `core/${relative[1]}`;
  return relative.length > 1 && relative[0] !== 'core' ? (relative[0] ?? '') : relative.join('/');
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const statement = /^(import|export)\s+(type\s+)?[^;]*?from\s+'([^']+)'|\bimport\('([^']+)'\)|^import\s+'([^']+)'/gm;
  return [...text.matchAll(statement)].map((match) => {
    const target = match[3] ?? match[4] ?? match[5] ?? '';
    const to = target.startsWith('.') ? path.resolve(path.dirname(file), target.replace(/\.js$/, '.ts')) : target;
    return { from: file, to, typeOnly: match[2] !== undefined };
  });
}

const imports = filesBelow(source).flatMap(importsOf);
const inside = imports.filter(({ to }) => path.isAbsolute(to) && to.startsWith(source));

/** To whom each room may draw an arrow, besides itself. */
const arrows: Record<string, readonly string[]> = {
  webview: [],
  'core/base': [],
  'core/config': ['core/base'],
  'core/tools': ['core/base', 'core/config'],
  'core/approval': ['core/base', 'core/config', 'core/tools'],
  'core/authoring': ['core/base', 'core/config', 'core/tools', 'core/reconcile'],
  'core/results': ['core/base'],
  'core/agents': ['core/base', 'core/config'],
  'core/files': ['core/base', 'core/config'],
  'core/connections': ['core/base', 'core/config', 'core/tools'],
  'core/reconcile': ['core/base', 'core/config', 'core/approval', 'core/tools', 'core/connections'],
  'core/dialog': ['core/base', 'core/config', 'core/tools'],
  'core/gateway': ['core/base', 'core/tools', 'core/results'],
};

describe('house', () => {
  it('draws only the arrows that are drawn in src/README.md', () => {
    const wrong = inside
      .map(({ from, to }) => ({ from, to, a: room(from), b: room(to) }))
      .filter(({ a, b }) => a !== b && a in arrows && !arrows[a]?.includes(b))
      .map(({ from, to, a }) => `${path.relative(source, from)} imports ${path.relative(source, to)}; ${a} may not.`);
    assert.deepEqual(wrong, []);
  });

  it('keeps vscode out of the core, types included', () => {
    const wrong = imports.filter(({ from, to }) => to === 'vscode' && !/^(extension\.ts|vscode)/.test(room(from)));
    assert.deepEqual(
      wrong.map(({ from }) => path.relative(source, from)),
      [],
    );
  });

  it('keeps the MCP SDK in connections and gateway, elsewhere as types', () => {
    const wrong = imports.filter(
      ({ from, to, typeOnly }) =>
        to.startsWith('@modelcontextprotocol/') && room(from) !== 'core/connections' && !typeOnly,
    );
    assert.deepEqual(
      wrong.map(({ from }) => path.relative(source, from)),
      [],
    );
  });

  it('has no file over 300 lines', () => {
    const long = filesBelow(source).filter((file) => readFileSync(file, 'utf8').split('\n').length > 301);
    assert.deepEqual(
      long.map((file) => path.relative(source, file)),
      [],
    );
  });
});
