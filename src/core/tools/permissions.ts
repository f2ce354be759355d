/**
 * Decides about agents' calls of tools (S4). The original and the published name, and each setting,
 * are judged separately, and the strictest verdict counts: no rename gets around a rule, and a
 * workspace cannot allow a tool against the person. The matching pattern with the most literal
 * characters decides, so `*` can be the rule and a name the exception.
 */
import { asFields, type Fields } from '../base/isObject.js';
import { compilePattern, type Pattern } from './patterns.js';

export const toolPermissions = ['allow', 'ask', 'deny'] as const;

export type ToolPermission = (typeof toolPermissions)[number];

export type PermissionVerdict = { readonly permission: ToolPermission; readonly pattern?: string };

type Rule = {
  readonly pattern: Pattern;
  readonly literals: number;
  readonly permission: ToolPermission;
};

/** The rules of each setting. The first match decides. */
export type PermissionRules = readonly (readonly Rule[])[];

/**
 * @param settings values of the editor. An unknown value counts as `ask`, because it was meant to
 * restrict.
 */
export function compilePermissions(settings: readonly unknown[]): PermissionRules {
  return settings.map((setting) => {
    const rules = Object.entries(asFields(setting)).map(([text, value]): Rule => {
      const permission = toolPermissions.find((one) => one === value) ?? 'ask';
      return {
        pattern: compilePattern(text),
        literals: text.replaceAll('*', '').length,
        permission,
      };
    });
    return rules.sort(
      (a, b) => b.literals - a.literals || strictness(b.permission) - strictness(a.permission),
    );
  });
}

export type ToolNames = { readonly original: string; readonly published: string };

/** Returns `allow` without a matching pattern, because the editor asks by the tool's hints. */
export function permissionOf(
  { original, published }: ToolNames,
  rules: PermissionRules,
): PermissionVerdict {
  let verdict: PermissionVerdict = { permission: 'allow' };
  for (const name of published === original ? [published] : [published, original]) {
    for (const layer of rules) {
      const decided = layer.find(({ pattern }) => pattern.matches(name));
      if (decided && strictness(decided.permission) > strictness(verdict.permission)) {
        verdict = { permission: decided.permission, pattern: decided.pattern.text };
      }
    }
  }
  return verdict;
}

function strictness(permission: ToolPermission): number {
  return toolPermissions.indexOf(permission);
}

/**
 * An allowed tool is written under both names, because each is judged, and the original name
 * otherwise only if needed. @param permission undefined if the editor decides
 */
export function withPermission(
  setting: unknown,
  tool: ToolNames,
  permission: ToolPermission | undefined,
): Fields {
  const { original, published } = tool;
  const verdictOf = (next: Fields): ToolPermission =>
    permissionOf(tool, compilePermissions([next])).permission;
  if (permission === undefined) {
    const others = Object.entries(asFields(setting)).filter(
      ([name]) => name !== original && name !== published,
    );
    const rest = Object.fromEntries(others);
    return verdictOf(rest) === 'allow' ? rest : withPermission(rest, tool, 'allow');
  }
  const next = { ...asFields(setting), [published]: permission };
  return permission === 'allow' || verdictOf(next) !== permission
    ? {
        ...next,
        [original]: permission,
      }
    : next;
}
