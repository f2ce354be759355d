/**
 * *Ask Before Calls*, *Deny* and *Allow* of tools: writes the person's own setting (S4). Loaded on
 * demand.
 */
import { inert } from '../../core/base/inert.js';
import {
  compilePermissions,
  permissionOf,
  withPermission,
  type ToolPermission,
} from '../../core/tools/permissions.js';
import { setToolPermissions, toolPermissions } from '../engine/settings.js';
import { tell } from '../views/inertEditor.js';
import type { nodesOf } from '../views/rows/subject.js';

export async function setPermission(
  rows: ReturnType<typeof nodesOf>,
  permission: ToolPermission,
): Promise<void> {
  const tools = rows.flatMap(({ original, published }) =>
    original === undefined || published === undefined ? [] : [{ original, published }],
  );
  const [own] = toolPermissions();
  await setToolPermissions(
    tools.reduce((setting: unknown, tool) => withPermission(setting, tool, permission), own),
  );
  const rules = compilePermissions(toolPermissions());
  for (const tool of tools) {
    const verdict = permissionOf(tool, rules);
    if (verdict.permission === permission) continue;
    tell(
      inert`The permission of “${tool.published}” is still ${verdict.permission}, because the pattern ${verdict.pattern ?? ''} of your or the workspace’s settings is stricter.`,
    );
  }
}
