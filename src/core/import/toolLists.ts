/**
 * The tools that another program's entry lets through, keeps out, or runs without a question: filters of ours (N2), and
 * permissions, which are a setting of the person and not part of the file (S4).
 */
import { isObject } from '../base/isObject.js';
import { asText } from '../base/text.js';
import type { ImportedEntry } from './imported.js';
import type { Keys } from './keys.js';

const allowKeys = ['enabled_tools', 'enabledTools', 'allowedTools', 'allowed_tools', 'includeTools', 'tools'];
const denyKeys = ['disabled_tools', 'disabledTools', 'deniedTools', 'excludeTools', 'excludedTools'];
const trustKeys = ['alwaysAllow', 'autoApprove', 'autoAllow', 'auto_approve', 'trust'];

/** @param lose says what cannot be expressed */
export function toolsOf(keys: Keys, lose: (message: string) => void): ImportedEntry['tools'] | undefined {
  const allowed =
    keys.names(...allowKeys.filter((key) => key !== 'tools' || !isObject(keys.peek(key)))) ?? available(keys);
  const denied = [...(keys.names(...denyKeys) ?? []), ...(keys.names('disabledPatterns') ?? [])];
  const exceptions = keys.names('enabledPatterns') ?? [];
  if (allowed && !(allowed.length === 1 && allowed[0] === '*')) {
    const kept = allowed.filter((name) => !denied.includes(name));
    const patterns = kept.filter((name) => name.includes('*'));
    if (patterns.length > 0 && denied.length > 0) {
      const [inside, out] = [patterns, denied].map((list) => list.map((name) => `\`${name}\``).join(', '));
      lose(`${out} of ${inside}: a whitelist wins over a blacklist here, so these tools are not kept out.`);
    }
    return kept.length > 0 ? { whitelist: kept } : { blacklist: ['*'] };
  }
  if (denied.length === 0) return undefined;
  return { ...(exceptions.length > 0 && { whitelist: exceptions }), blacklist: denied };
}

/** Goose takes an empty list for all tools. */
function available(keys: Keys): string[] | undefined {
  const names = keys.names('available_tools');
  return names?.length === 0 ? undefined : names;
}

const permissionsOfModes: ReadonlyMap<unknown, string> = new Map([
  ['approve', 'allow'],
  ['auto', 'allow'],
  ['prompt', 'ask'],
]);

/** Says which permissions the entry gives, and how they are written here. */
export function permissionNote(keys: Keys): string[] {
  const trusted = keys.take(...trustKeys);
  const names = trusted === true ? ['*'] : Array.isArray(trusted) ? trusted.map(asText) : [];
  const trustsAll = names.includes('*');
  const modes = new Map(trustsAll ? [] : names.map((name) => [name, 'allow']));
  const others: string[] = [];
  const tools = keys.peek('tools');
  if (isObject(tools)) keys.take('tools');
  for (const [name, settings] of Object.entries(isObject(tools) ? tools : {})) {
    const { approval_mode: mode, ...rest } = isObject(settings) ? settings : { settings };
    const permission = permissionsOfModes.get(mode);
    if (permission !== undefined) modes.set(name, permission);
    else if (mode !== undefined) others.push(`\`tools.${name}.approval_mode\``);
    for (const key of Object.keys(rest)) others.push(`\`tools.${name}.${key}\``);
  }
  const notes: string[] = [];
  if (trustsAll) {
    notes.push('there, all tools run without a question. Here, list such tools in `mcpToolsets.toolPermissions`.');
  }
  if (modes.size > 0) {
    const setting = JSON.stringify(Object.fromEntries(modes));
    notes.push(
      `permissions are a setting here: \`"mcpToolsets.toolPermissions": ${setting}\`, for the published names.`,
    );
  }
  if (typeof trusted === 'string')
    notes.push(`the permission \`${trusted.slice(0, 40)}\`: there is nothing like it here.`);
  if (others.length > 0) notes.push(`${others.join(', ')}: there is nothing like it here.`);
  return notes;
}
