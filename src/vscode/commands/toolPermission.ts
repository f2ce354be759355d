/** *When Called* in the menu of a tool: writes its permission into the settings (S4). Loaded on demand. */
import { inert } from '../../core/base/inert.js';
import {
  compilePermissions,
  permissionOf,
  permissionOfAll,
  withPermission,
  type ToolPermission,
} from '../../core/tools/permissions.js';
import { changeToolPermissions, toolPermissions } from '../engine/settings.js';
import { window } from '../views/inertEditor.js';
import type { nodesOf } from '../views/rows/subject.js';

type Rows = ReturnType<typeof nodesOf>;

/** @param permission undefined if the editor decides */
export async function setPermission(
  rows: Rows,
  permission: ToolPermission | undefined,
  inAllFolders = false,
): Promise<void> {
  const tools = toolsOf(rows);
  await changeToolPermissions(inAllFolders, (value) =>
    tools.reduce((setting: unknown, tool) => withPermission(setting, tool, permission), value),
  );
  const rules = compilePermissions(toolPermissions());
  for (const tool of tools) {
    const verdict = permissionOf(tool, rules);
    if (permissionOfAll(tool, rules).otherwise !== undefined) {
      const text = inert`Rules with arguments go before the permission of “${tool.published}”. They are in the setting mcpToolsets.toolPermissions.`;
      void window.showInformationMessage(text);
    }
    if (verdict.permission === (permission ?? 'allow')) continue;
    const text = inert`The permission of “${tool.published}” is still ${verdict.permission}, because the pattern ${verdict.pattern ?? ''} of your or the workspace’s settings is stricter.`;
    if (inAllFolders) void window.showInformationMessage(text);
    else if ((await window.showInformationMessage(text, 'In All Folders')) !== undefined)
      return setPermission(rows, permission, true);
  }
}

/** Writes the present permissions into the settings of the person too. */
export async function permitInAllFolders(rows: Rows): Promise<void> {
  const rules = compilePermissions(toolPermissions());
  for (const tool of toolsOf(rows))
    await setPermission([tool], permissionOf(tool, rules).permission, true);
}

function toolsOf(rows: Rows) {
  return rows.flatMap(({ original, published }) =>
    original === undefined || published === undefined
      ? []
      : [
          {
            original,
            published,
          },
        ],
  );
}
