/**
 * Makes the parts of `package.json` and `package.nls.json` about commands from their table. The
 * editor puts a text of `package.nls.json`, or of its language, in place of `%its key%`.
 *
 *     npm run contributions        writes them into both files
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { commands, keys, submenus, whenCalledMenu, type Command } from './commands.js';

const all = Object.entries(commands).map(([name, command]) => ({
  id: `mcpToolsets.${name}`,
  command: command as Command,
}));

const titleKey = (id: string): string => id.replace('mcpToolsets', 'command');

/** The English titles. */
export const titles: Readonly<Record<string, string>> = Object.fromEntries([
  ...all.flatMap(({ id, command: { title, shortTitle } }) => [
    [titleKey(id), title],
    ...(shortTitle === undefined ? [] : [[`${titleKey(id)}.short`, shortTitle]]),
  ]),
  ...submenus.map(({ id, label }) => [id.replace('mcpToolsets', 'menu'), label]),
]) as Record<string, string>;

const contributedCommands = all.map(({ id, command: { shortTitle, icon, enabled } }) => ({
  command: id,
  title: `%${titleKey(id)}%`,
  ...(shortTitle !== undefined && { shortTitle: `%${titleKey(id)}.short%` }),
  category: 'MCP Toolsets',
  ...(icon !== undefined && { icon: `$(${icon})` }),
  ...(enabled !== undefined && { enablement: enabled }),
}));

const inPalette = all.flatMap(({ id, command: { palette } }) =>
  palette === undefined ? [] : { command: id, when: palette },
);

function entriesOf(menu: string) {
  return all.flatMap(({ id, command: { menus = [] } }) =>
    menus
      .filter((entry) => entry.menu === menu)
      .flatMap(({ when, groups }) => groups.map((group) => ({ command: id, when, group }))),
  );
}

export const contributions = {
  commands: contributedCommands,
  menus: {
    'view/title': entriesOf('view/title'),
    'view/item/context': [
      ...entriesOf('view/item/context'),
      ...submenus.map(({ id: submenu, when, group }) => ({ submenu, when, group })),
    ],
    [whenCalledMenu]: entriesOf(whenCalledMenu),
    commandPalette: inPalette,
    'editor/title': entriesOf('editor/title'),
  },
  submenus: submenus.map(({ id }) => ({ id, label: `%${id.replace('mcpToolsets', 'menu')}%` })),
  keybindings: keys,
};

/** Keeps the texts of other parts. */
export function withTitles(texts: Readonly<Record<string, string>>): Record<string, string> {
  const others = Object.entries(texts).filter(([key]) => !/^(?:command|menu)\./.test(key));
  return { ...Object.fromEntries(others), ...titles };
}

function change<Content>(name: string, changed: (content: Content) => object): void {
  const file = path.join(__dirname, '..', name);
  const content = changed(JSON.parse(readFileSync(file, 'utf8')) as Content);
  writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
}

if (require.main === module) {
  change<{ contributes: object }>('package.json', (manifest) => ({
    ...manifest,
    contributes: { ...manifest.contributes, ...contributions },
  }));
  change('package.nls.json', withTitles);
}
