/**
 * Reads the foreign `_meta.ui` of tools (`io.modelcontextprotocol/ui`, 2026-01-26), for apps and
 * their calls (G8).
 */
import { asFields, isObject, type Fields } from '../base/isObject.js';

type Described = Fields;

export function appOf(tool: Described): string | undefined {
  const uri = uiOf(tool)?.['resourceUri'];
  return typeof uri === 'string' && uri !== '' ? uri : undefined;
}

export function isForAppAlone(tool: Described): boolean {
  const visibility = visibilityOf(tool);
  return visibility !== undefined && visibility.includes('app') && !visibility.includes('model');
}

/** True if the apps of its server may call it. They may by default. */
export function isForApps(tool: Described): boolean {
  return visibilityOf(tool)?.includes('app') ?? true;
}

/**
 * Returns `_meta` of a tool for an entry that only apps see. The entry for models names the app.
 */
export function metaForApps(tool: Described): Described {
  const { _meta: meta } = tool;
  return { ...asFields(meta), ui: { visibility: ['app'] } };
}

function visibilityOf(tool: Described): readonly unknown[] | undefined {
  const visibility = uiOf(tool)?.['visibility'];
  return Array.isArray(visibility) ? visibility : undefined;
}

function uiOf({ _meta: meta }: Described): Described | undefined {
  const ui = asFields(meta)['ui'];
  return isObject(ui) ? ui : undefined;
}
