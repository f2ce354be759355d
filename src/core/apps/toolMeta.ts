/**
 * Reads what the extension MCP Apps (`io.modelcontextprotocol/ui`, 2026-01-26) says of tools in `_meta.ui`: the app that
 * shows a result, and who may call the tool (G8). Servers write there what they like. Everything here is pure.
 */
import { isObject } from '../base/isObject.js';

type Described = Readonly<Record<string, unknown>>;

/** Returns the URI of the app that shows the tool's results, if it has one. */
export function appOf(tool: Described): string | undefined {
  const uri = uiOf(tool)?.['resourceUri'];
  return typeof uri === 'string' && uri !== '' ? uri : undefined;
}

/** Says whether no model is to see the tool. */
export function isForAppAlone(tool: Described): boolean {
  const visibility = visibilityOf(tool);
  return visibility !== undefined && visibility.includes('app') && !visibility.includes('model');
}

/** Says whether the apps of its server may call it, as they may unless it says otherwise. */
export function isForApps(tool: Described): boolean {
  return visibilityOf(tool)?.includes('app') ?? true;
}

/**
 * Returns `_meta` of a tool for an entry that apps alone see. Nothing opens for it: the tool that models see says what
 * does.
 */
export function metaForApps(tool: Described): Described {
  const { _meta: meta } = tool;
  return { ...(isObject(meta) ? meta : {}), ui: { visibility: ['app'] } };
}

function visibilityOf(tool: Described): readonly unknown[] | undefined {
  const visibility = uiOf(tool)?.['visibility'];
  return Array.isArray(visibility) ? visibility : undefined;
}

function uiOf({ _meta: meta }: Described): Described | undefined {
  const ui = isObject(meta) ? meta['ui'] : undefined;
  return isObject(ui) ? ui : undefined;
}
