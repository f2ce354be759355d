/**
 * Words for the reasons why agents do not see a tool, and for the remedies, the same in every view.
 */
import { english } from '../base/language.js';
import type { ExcludedTool, ExclusionReason, ServedTool } from './catalogue.js';

/** A person keeps a tool out. Otherwise it is left out because of a fault. */
export function exclusionWord({ kind }: ExclusionReason): string {
  return /^(?:blacklist|whitelist|denied|changed)$/.test(kind)
    ? english`kept out`
    : english`left out`;
}

/**
 * True if a permission or a list keeps the tool out. A tick can publish it, unless its name would be
 * a pattern.
 */
export function hasTick({ original, reason }: ExcludedTool): boolean {
  if (reason.kind === 'denied') return true;
  return (reason.kind === 'blacklist' || reason.kind === 'whitelist') && !original.includes('*');
}

export function exclusionPhrase(reason: ExclusionReason): string {
  switch (reason.kind) {
    case 'blacklist':
      return english`blacklist: ${reason.pattern}`;
    case 'whitelist':
      return english`not in the whitelist`;
    case 'originalNameInvalid':
      return english`its name breaks the rule for tool names`;
    case 'publishedNameInvalid':
      return english`would be “${reason.published}”, which breaks the rule for tool names`;
    case 'schema':
      return english`its schema cannot be used: ${reason.detail}`;
    case 'override':
      return english`the override of its argument “${reason.argument}” cannot be applied`;
    case 'nameTaken':
      return reason.isNew
        ? english`new since approval, and “${reason.published}” is in the baseline of ${reason.holder}`
        : english`“${reason.published}” belongs to ${reason.holder}`;
    case 'nameReserved':
      return english`“${reason.published}” belongs to a built-in tool`;
    case 'denied':
      return english`denied by your permissions: ${reason.pattern}`;
    case 'changed':
      if (reason.parts.includes('lock')) return english`held back: the lock file cannot be read`;
      return reason.parts.includes('new')
        ? english`held back: new since approval`
        : english`held back: its ${reason.parts.join(' and ')} changed`;
    case 'listedTwice':
      return english`the server lists this name more than once; the first one is used`;
  }
}

const remedies: Readonly<Record<Exclude<ExclusionReason['kind'], 'nameTaken'>, string>> = {
  blacklist: english`To publish it, name it in the whitelist, or change the pattern.`,
  whitelist: english`To publish it, add it to the whitelist.`,
  originalNameInvalid: english`Give it a name of at most 64 letters, digits, - and _ by a step of \`transform\`, such as \`replace\`.`,
  publishedNameInvalid: english`Shorten or correct the transforms.`,
  schema: english`Ask the author of the server to correct the schema.`,
  override: english`Remove the override of this argument, or keep the tool out.`,
  nameReserved: english`Give this server a prefix.`,
  denied: english`To publish it, change the setting mcpToolsets.toolPermissions. On the command line, change ~/.minds/permissions.json or the option --deny.`,
  changed: english`To publish it, accept it as it is now.`,
  listedTwice: english`Ask the author of the server to give each tool a different name.`,
};

export function exclusionRemedy(reason: ExclusionReason): string {
  if (reason.kind === 'changed' && reason.parts.includes('lock'))
    return english`Correct or restore .minds/mcp.lock.`;
  return reason.kind === 'nameTaken'
    ? english`Give this server or ${reason.holder} a prefix.`
    : remedies[reason.kind];
}

export function editorRefusalPhrase({ editorRefuses, editorId }: ServedTool): string | undefined {
  if (editorRefuses?.kind === 'schema')
    return english`it refuses the schema: ${editorRefuses.detail}`;
  return editorRefuses && english`its id there would be too long: ${editorId}`;
}
