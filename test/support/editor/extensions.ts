/**
 * The extensions of an editor under test: copies of the project's helper extensions, the installed
 * product if needed, and the editor's own extensions.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { extensionPage } from '../../../build/extensionPage.mjs';
import { repoRoot } from '../npm.mjs';

/** @param name a folder of `test/editor/helpers`, or an absolute path */
export function helperFolder(name: string): string {
  return resolve(repoRoot, 'test/editor/helpers', name);
}

/**
 * Copies a folder with a `package.json` to the editor's folder of installed extensions. Returns the
 * copy's path.
 */
export function installExtension(
  source: string,
  extensionsDir: string,
  parts?: readonly string[],
): string {
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const target = join(
    extensionsDir,
    `${manifest['publisher']}.${manifest['name']}-${manifest['version']}`,
  );
  mkdirSync(target, { recursive: true });
  for (const part of parts ?? readdirSync(source)) {
    if (existsSync(join(source, part)))
      cpSync(join(source, part), join(target, part), { recursive: true });
  }
  return target;
}

/** @param name as for `helperFolder` */
export function installHelper(name: string, extensionsDir: string): void {
  installExtension(helperFolder(name), extensionsDir);
}

/**
 * A made-up language: English with texts that are half as long again, as in German or Russian.
 */
export const longLanguage = 'xx';

/** The text with a tail of letters that no text of the product has. White space ends it as before. */
export function lengthened(text: string): string {
  const words = text.trimEnd();
  const tail = 'ø'.repeat(Math.ceil(words.length / 2)).replaceAll('øøøøøøø', 'øøøøøø ');
  return words === '' ? text : `${words} ${tail.trimEnd()}${text.slice(words.length)}`;
}

/** Gives an installed product the files of the made-up language. */
function addLongLanguage(product: string): void {
  const write = (file: string, texts: readonly (readonly [key: string, text: string])[]): void => {
    const long = texts.map(([key, text]) => [key, lengthened(text)]);
    writeFileSync(join(product, file), JSON.stringify(Object.fromEntries(long)));
  };
  const entries = (file: string): [string, string][] =>
    Object.entries(JSON.parse(readFileSync(join(product, file), 'utf8')) as Record<string, string>);
  write(`package.nls.${longLanguage}.json`, entries('package.nls.json'));
  const bundle = entries('l10n/bundle.l10n.zh-cn.json');
  // The keys are the English texts.
  write(
    `l10n/bundle.l10n.${longLanguage}.json`,
    bundle.map(([key]) => [key, key]),
  );
}

/** Installs the built product with the contents of a `.vsix`, and the made-up language. */
export function installProduct(extensionsDir: string): void {
  if (!existsSync(join(repoRoot, 'dist/extension.js')))
    throw new Error('dist/extension.js is missing: npm run build');
  const parts = [
    'package.json',
    'package.nls.json',
    'package.nls.zh-cn.json',
    'l10n',
    'dist',
    'docs',
    'media',
    'CHANGELOG.md',
    'SECURITY.md',
  ];
  const target = installExtension(repoRoot, extensionsDir, parts);
  writeFileSync(join(target, 'readme.md'), extensionPage(repoRoot));
  addLongLanguage(target);
}

/** Copilot Chat writes into its folder when it is enabled. */
const agentExtension = 'copilot';

/**
 * True if an editor under test needs this built-in extension on its server. The page has a list of
 * all extensions for browsers. It looks for their code on the server, in vain if the server lacks
 * them. The others are colours and languages. The page has them itself, and no test sees them. If
 * each editor searched and read them again, they would take a quarter of the processor time of a
 * window and a third of its opening time.
 */
function isNeeded(folder: string): boolean {
  const manifest = join(folder, 'package.json');
  return (
    existsSync(manifest) && 'browser' in (JSON.parse(readFileSync(manifest, 'utf8')) as object)
  );
}

export interface OwnExtensions {
  /**
   * Keeps all of them, and the agent host, as for a person. By default those invisible to tests are
   * left out.
   */
  allExtensions?: boolean;
  /** Copilot Chat can be enabled, with the scripted model (see `agentMode.ts`). */
  agentMode?: boolean;
}

/**
 * Makes the folder of the editor's own extensions from links, and a copy of Copilot Chat if it can
 * be enabled.
 */
export function linkOwnExtensions(
  editorRoot: string,
  target: string,
  options: OwnExtensions,
): void {
  const source = join(editorRoot, 'extensions');
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source)) {
    const folder = join(source, name);
    if (options.agentMode && name === agentExtension) {
      cpSync(folder, join(target, name), { recursive: true });
    } else if (options.allExtensions || isNeeded(folder)) {
      symlinkSync(folder, join(target, name), 'junction');
    }
  }
}
