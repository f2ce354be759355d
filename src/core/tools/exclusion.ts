/** Says why agents do not see a tool, and what lets it through, in words that are the same in every view. */
import { assertNever } from '../base/assertNever.js';
import type { ExclusionReason } from './catalogue.js';

/** Returns a phrase that says why. */
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
    case 'nameTaken':
      return `“${reason.published}” belongs to ${reason.holder}`;
    case 'nameReserved':
      return `“${reason.published}” belongs to a built-in tool`;
    case 'denied':
      return `denied by the setting toolPermissions: ${reason.pattern}`;
    case 'changed':
      return `held back, because its ${reason.parts.join(' and ')} changed`;
    case 'editorIdTooLong':
      return `too long for the editor: ${reason.editorId}`;
    default:
      return assertNever(reason);
  }
}

/** Returns a sentence in the imperative that says what to do. */
export function exclusionRemedy(reason: ExclusionReason): string {
  switch (reason.kind) {
    case 'blacklist':
      return 'To let it through, name it in the whitelist, or change the pattern.';
    case 'whitelist':
      return 'To let it through, add it to the whitelist.';
    case 'originalNameInvalid':
      return 'Have the server name it with letters, digits, - and _, at most 64 of them.';
    case 'publishedNameInvalid':
    case 'editorIdTooLong':
      return 'Shorten or correct the transforms.';
    case 'schema':
      return 'Have the server correct the schema.';
    case 'nameTaken':
      return `Give this server or ${reason.holder} a prefix.`;
    case 'nameReserved':
      return 'Give this server a prefix.';
    case 'denied':
      return 'To let it through, change the setting mcpToolsets.toolPermissions.';
    case 'changed':
      return 'To let it through, accept it as it is now.';
    default:
      return assertNever(reason);
  }
}
