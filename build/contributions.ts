/**
 * Makes the parts of `package.json` about commands from their table.
 *
 *     npm run contributions        writes them into package.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { commands, keys, submenus, whenCalledMenu, type Command } from './commands.js';

const all = Object.entries(commands).map(([name, command]) => ({
  id: `mcpToolsets.${name}`,
  command: command as Command,
}));

const contributedCommands = all.map(({ id, command: { title, shortTitle, icon, enabled } }) => ({
  command: id,
  title,
  ...(shortTitle !== undefined && { shortTitle }),
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
  submenus: submenus.map(({ id, label }) => ({ id, label })),
  keybindings: keys,
};

function write(file: string): void {
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { contributes: object };
  Object.assign(manifest.contributes, contributions);
  writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
}

if (require.main === module) write(path.join(__dirname, '../package.json'));
