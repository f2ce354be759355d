/**
 * Words for the reasons why agents do not see a tool, and for the remedies, the same in every view.
 */
import type { ExcludedTool, ExclusionReason, ServedTool } from './catalogue.js';

/** A person keeps a tool out. Otherwise it is left out because of a fault. */
export function exclusionWord({ kind }: ExclusionReason): string {
  return /^(?:blacklist|whitelist|denied|changed)$/.test(kind) ? 'kept out' : 'left out';
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
      return `blacklist: ${reason.pattern}`;
    case 'whitelist':
      return 'not in the whitelist';
    case 'originalNameInvalid':
      return 'its name breaks the rule for tool names';
    case 'publishedNameInvalid':
      return `would be “${reason.published}”, which breaks the rule for tool names`;
    case 'schema':
      return `its schema cannot be used: ${reason.detail}`;
    case 'override':
      return `the override of its argument “${reason.argument}” cannot be applied`;
    case 'nameTaken':
      return reason.isNew
        ? `new since approval, and “${reason.published}” is in the baseline of ${reason.holder}`
        : `“${reason.published}” belongs to ${reason.holder}`;
    case 'nameReserved':
      return `“${reason.published}” belongs to a built-in tool`;
    case 'denied':
      return `denied by your permissions: ${reason.pattern}`;
    case 'changed':
      return `held back: ${reason.parts.includes('new') ? 'new since approval' : `its ${reason.parts.join(' and ')} changed`}`;
    case 'listedTwice':
      return 'the server lists this name more than once; the first one is used';
  }
}

const remedies: Readonly<Record<Exclude<ExclusionReason['kind'], 'nameTaken'>, string>> = {
  blacklist: 'To publish it, name it in the whitelist, or change the pattern.',
  whitelist: 'To publish it, add it to the whitelist.',
  originalNameInvalid:
    'Give it a name of at most 64 letters, digits, - and _ by a step of `transform`, such as `replace`.',
  publishedNameInvalid: 'Shorten or correct the transforms.',
  schema: 'Ask the author of the server to correct the schema.',
  override: 'Remove the override of this argument, or keep the tool out.',
  nameReserved: 'Give this server a prefix.',
  denied:
    'To publish it, change the setting mcpToolsets.toolPermissions. On the command line, change ~/.minds/permissions.json or the option --deny.',
  changed: 'To publish it, accept it as it is now.',
  listedTwice: 'Ask the author of the server to give each tool a different name.',
};

export function exclusionRemedy(reason: ExclusionReason): string {
  return reason.kind === 'nameTaken'
    ? `Give this server or ${reason.holder} a prefix.`
    : remedies[reason.kind];
}

export function editorRefusalPhrase({ editorRefuses, editorId }: ServedTool): string | undefined {
  if (editorRefuses?.kind === 'schema') return `it refuses the schema: ${editorRefuses.detail}`;
  return editorRefuses && `its id there would be too long: ${editorId}`;
}
