/**
 * Decides which toolsets the editor is offered (G3j, G5), and explains missing tools (G3i: never a
 * silent loss). Pure.
 */
import { english } from '../../core/base/language.js';
import type { Place, Problem } from '../../core/base/problem.js';
import { shortList } from '../../core/base/text.js';
import type { EndpointState } from '../../core/gateway/http/stableEndpoint.js';
import type { StatusSnapshot } from '../../core/reconcile/status.js';
import { toolsForEditor, type Toolset } from '../../core/tools/catalogue.js';
import type { WindowState } from '../engine/engineSlot.js';

/**
 * The state of a server does not matter: with each change of definitions, the editor's agent host
 * ends all sessions.
 */
export function labelsOf({ servers }: StatusSnapshot, toolsets: readonly Toolset[]): string[] {
  const configured = new Set(servers.map(({ id }) => id));
  const builtIn = toolsets.filter(
    (toolset) => !configured.has(toolset.id) && toolsForEditor(toolset).length > 0,
  );
  return [...servers.filter(({ state }) => state.kind !== 'disabled'), ...builtIn].map(
    ({ id }) => id,
  );
}

/** True while the toolsets or their address are unknown. */
export function isBeginning(
  phase: WindowState['phase'],
  endpoint: EndpointState | undefined,
): boolean {
  if (phase === 'reading') return endpoint === undefined || endpoint.kind === 'starting';
  // A window that serves without an engine has unreadable files or a defect, so nothing follows.
  return phase === 'serving' && endpoint?.kind === 'starting';
}

type Presence =
  | { readonly kind: 'shown' }
  /** The editor gave its tools another prefix, because another server has its name. */
  | { readonly kind: 'renamed'; readonly prefix: string }
  | { readonly kind: 'partly'; readonly missing: readonly string[] }
  | { readonly kind: 'hidden' };

/** The editor's prefix has room for this many characters of a server's name. */
const longestName = 13;

export function presenceOf(toolset: Toolset, names: ReadonlySet<string>): Presence {
  const tools = toolsForEditor(toolset);
  const missing = tools.filter(({ editorId }) => !names.has(editorId));
  if (missing.length === 0) return { kind: 'shown' };
  if (missing.length < tools.length)
    return { kind: 'partly', missing: missing.map(({ published }) => published) };
  for (let number = 2; number <= 9; number++) {
    const prefix = `mcp_${toolset.shortName.slice(0, longestName - 1)}${number}_`;
    if (tools.every(({ editorName }) => names.has(prefix + editorName)))
      return { kind: 'renamed', prefix };
  }
  return { kind: 'hidden' };
}

export interface Rival {
  readonly label: string;
  readonly file: string;
  readonly place: Place;
  /** True for an entry that leads to a toolset. */
  readonly isOurs: boolean;
}

export interface Absence {
  readonly presence: Exclude<Presence, { readonly kind: 'shown' }>;
  readonly connected: boolean;
  /** The setting of the editor that switches MCP off, such as `"chat.mcp.access" is "none"`. */
  readonly switchedOff: string | undefined;
  readonly rivals: readonly Rival[];
}

export function absenceProblem(toolset: Toolset, absence: Absence, place: Place): Problem {
  const { rivals, presence } = absence;
  const missing = presence.kind === 'partly' ? presence.missing : toolsForEditor(toolset);
  return {
    code: 'editor-toolset-hidden',
    severity: 'warning',
    ...absenceText(toolset, absence),
    place,
    server: toolset.id,
    ...(presence.kind !== 'renamed' && {
      inEditor: toolsForEditor(toolset).length - missing.length,
    }),
    ...(rivals.some(({ isOurs }) => !isOurs) && {
      related: rivals.map((rival) => ({
        message: english`"${rival.label}" is configured here too`,
        place: rival.place,
      })),
    }),
  };
}

export function absenceText(toolset: Toolset, absence: Absence): Pick<Problem, 'message' | 'fix'> {
  const { id, shortName } = toolset;
  const { presence, connected, switchedOff, rivals } = absence;
  if (switchedOff) {
    return {
      message: english`The editor shows no tool of "${id}" to agents: ${switchedOff}.`,
      fix: english`Change this setting to let agents of this editor use MCP tools.`,
    };
  }
  if (presence.kind === 'renamed') {
    return {
      message: english`The editor names the tools of "${id}" ${presence.prefix}… instead of mcp_${shortName}_…, because another MCP server calls itself "${shortName}" too.`,
      fix: english`Rename this server, or stop the other one. Until then, agents find these tools only as ${presence.prefix}….`,
    };
  }
  if (presence.kind === 'partly') {
    const missing = presence.missing.map((name) => `"${name}"`);
    return {
      message: english`The editor does not show ${shortList(missing, 5)} of "${id}" to agents.`,
      fix: english`Read the output channel “MCP Toolsets” and the output channel of the MCP server. To keep a tool out for good, add it to the blacklist.`,
    };
  }
  const [rival] = rivals;
  if (rival?.isOurs === true) {
    return {
      message: english`The editor takes the toolset "${id}" from the entry "${rival.label}" of ${rival.file}, and this entry does not run yet.`,
      fix: english`Run “MCP: List Servers”, choose "${rival.label}" of ${rival.file} and start it. The editor may ask you whether you trust it.`,
    };
  }
  if (rival) {
    return {
      message: english`The editor shows no tool of "${id}" to agents: ${rival.file} also configures an MCP server "${rival.label}", and the editor keeps only one server of each name.`,
      fix: english`Remove the other server, rename one of the two, or set "chat.mcp.collisionBehavior" to "suffix".`,
    };
  }
  if (connected) {
    return {
      message: english`The editor is connected to "${id}" but shows none of its tools to agents. Either "${id}" is disabled in the editor, or your user mcp.json or another extension configures a server of the same name.`,
      fix: english`Run “MCP: List Servers” and look for "${id}": enable it, or rename one of the two.`,
    };
  }
  return {
    message: english`The editor has not connected to the toolset "${id}", so agents do not see its tools.`,
    fix: english`Run “MCP: List Servers” and start "${id}". The output channel “MCP Toolsets” shows what was tried.`,
  };
}
