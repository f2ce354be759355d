/**
 * Decides about agents' calls of tools (S4). The original and the published name, and each setting,
 * are judged separately, and the strictest verdict counts: no rename gets around a rule, and a
 * workspace cannot allow a tool against the person. Of the rules without arguments, the matching
 * pattern with the most literal characters decides, so `*` can be the rule and a name the
 * exception. Before them go the rules with arguments (S4e), of which the strictest decides.
 */
import { english } from '../base/language.js';
import { asFields, type Fields } from '../base/isObject.js';
import { foldedName } from './allowed.js';
import {
  compileCondition,
  readPermissionKey,
  SentArguments,
  type Condition,
} from './argumentRules.js';
import { compilePattern, type Pattern } from './patterns.js';

export const toolPermissions = ['allow', 'ask', 'deny'] as const;

export type ToolPermission = (typeof toolPermissions)[number];

export interface PermissionVerdict {
  readonly permission: ToolPermission;
  readonly pattern?: string | undefined;
  /** The rules with arguments that led to it. */
  readonly byArguments?: readonly string[];
  /** True if a value would have taken too long to judge. */
  readonly isInDoubt?: boolean;
}

/** Follows the name of the rule that decided. */
export const doubtNote =
  'A value of the call takes too long to judge, so a rule about it denies or asks, and does not allow.';

export interface ToolVerdict extends PermissionVerdict {
  /** The permission of the calls that no rule with arguments matches, if there are such rules. */
  readonly otherwise?: ToolPermission;
}

interface Rule {
  readonly text: string;
  readonly tool: Pattern;
  readonly literals: number;
  readonly permission: ToolPermission;
  /** Empty if the rule cannot be read: it matches every call. */
  readonly conditions: readonly Condition[] | undefined;
}

/** The rules of each setting. The first match decides. */
export type PermissionRules = readonly (readonly Rule[])[];

/**
 * @param settings values of the editor. An unknown value counts as `ask`, because it was meant to
 * restrict.
 */
export function compilePermissions(settings: readonly unknown[]): PermissionRules {
  return settings.map((setting) =>
    Object.entries(asFields(setting))
      .flatMap(([text, value]) => ruleOf(text, value))
      .sort(
        (a, b) => b.literals - a.literals || strictness(b.permission) - strictness(a.permission),
      ),
  );
}

/** A rule that cannot be read from its key allows nothing, or counts for the whole tool. */
function ruleOf(text: string, value: unknown): Rule[] {
  const permission = toolPermissions.find((one) => one === value) ?? 'ask';
  const key = readPermissionKey(text);
  if (key.kind === 'unread' && permission === 'allow') return [];
  const given = key.kind === 'arguments' ? key.conditions : [];
  const tool = compilePattern(key.tool);
  // The server's own name of a tool may have a bracket.
  const isOwnName = (name: string): boolean => key.kind === 'unread' && name === text;
  return [
    {
      text,
      tool: { ...tool, matches: (name) => isOwnName(name) || tool.matches(name) },
      literals: key.tool.replaceAll('*', '').length,
      permission,
      conditions:
        key.kind === 'tool'
          ? undefined
          : given.map(([name, pattern]) => compileCondition(name, pattern, permission === 'allow')),
    },
  ];
}

/** Returns what a person should know about a rule that cannot be read. */
export function unreadRule(text: string, value: unknown): string | undefined {
  const key = readPermissionKey(text);
  if (key.kind !== 'unread') return undefined;
  const effect =
    value === 'allow' ? 'it allows nothing' : english`it counts for every call of "${key.tool}"`;
  return english`The rule "${text}" cannot be read, so ${effect}. Write it as "tool(argument: pattern, argument: pattern)", with * in place of a comma.`;
}

export type ToolNames = { readonly original: string; readonly published: string };

/**
 * Without a matching pattern, it is `allow`, because the editor asks by the tool's hints.
 * @param sent the arguments that the server would get. Without them, no rule with arguments matches
 */
export function permissionOf(
  names: ToolNames,
  rules: PermissionRules,
  sent?: Fields,
): PermissionVerdict {
  const given = new SentArguments(sent);
  const decided = strictest(decisions(names, rules, given).flat());
  const byArguments = decided.filter(({ conditions }) => conditions).map(({ text }) => text);
  const verdict = { ...verdictBy(decided), byArguments };
  return given.areInDoubt ? { ...verdict, isInDoubt: true } : verdict;
}

/** Returns what holds for every call of a tool, whatever its arguments. */
export function permissionOfAll(names: ToolNames, rules: PermissionRules): ToolVerdict {
  const all = applicable(names, rules);
  const least = all.flatMap(({ plain, byArguments }) => {
    // A rule that matches every call leaves none to the others.
    const [always] = strictest(byArguments.filter(({ conditions }) => conditions?.length === 0));
    return always ?? byArguments.reduce(lessStrict, plain) ?? [];
  });
  const verdict = verdictBy(strictest(least));
  const varies = all.some(({ byArguments }) => byArguments.length > 0);
  return varies ? { ...verdict, otherwise: permissionOf(names, rules).permission } : verdict;
}

function verdictBy([first]: readonly Rule[]): PermissionVerdict {
  return { permission: first?.permission ?? 'allow', pattern: first?.text };
}

/** Returns the rule of a setting that decides about a call, for each name of the tool. */
export function rulesFor(
  names: ToolNames,
  setting: PermissionRules[number],
  sent: Fields | undefined,
): readonly (string | undefined)[] {
  return decisions(names, [setting], new SentArguments(sent)).map(([rule]) => rule?.text);
}

/** Returns the arguments in rules about a tool that its schema does not have. */
export function unknownArguments(
  names: ToolNames,
  rules: PermissionRules,
  known: readonly string[],
): { readonly rule: string; readonly argument: string }[] {
  const spellings = new Set(known.map(foldedName));
  const found = new Map<string, { rule: string; argument: string }>();
  for (const { byArguments } of applicable(names, rules)) {
    for (const { text, conditions = [] } of byArguments) {
      const unknown = conditions.find(({ argument }) => !spellings.has(foldedName(argument)));
      if (unknown) found.set(text, { rule: text, argument: unknown.argument });
    }
  }
  return [...found.values()];
}

interface Applicable {
  readonly plain: Rule | undefined;
  readonly byArguments: readonly Rule[];
}

/** Returns the rules about a tool, for each setting and each name. */
function applicable({ original, published }: ToolNames, rules: PermissionRules): Applicable[] {
  const names = published === original ? [published] : [published, original];
  return names.flatMap((name) =>
    rules.map((setting) => {
      const about = setting.filter(({ tool }) => tool.matches(name));
      return {
        plain: about.find(({ conditions }) => !conditions),
        byArguments: about.filter(({ conditions }) => conditions),
      };
    }),
  );
}

function decisions(
  names: ToolNames,
  rules: PermissionRules,
  sent: SentArguments,
): readonly (readonly Rule[])[] {
  return applicable(names, rules).map(({ plain, byArguments }) => {
    const met = strictest(byArguments.filter(({ conditions = [] }) => sent.meet(conditions)));
    return met.length === 0 && plain ? [plain] : met;
  });
}

function strictest(rules: readonly Rule[]): readonly Rule[] {
  const most = rules.reduce((max, { permission }) => Math.max(max, strictness(permission)), 0);
  return rules.filter(({ permission }) => strictness(permission) === most);
}

/** Without a rule, a call is allowed. */
function lessStrict(a: Rule | undefined, b: Rule): Rule | undefined {
  return a && strictness(b.permission) < strictness(a.permission) ? b : a;
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
