/**
 * Finds the servers that have a name or a URI in their baselines (N5b, N5c), whatever runs and
 * lists now. So an offer that is new since the approval of its server takes nothing from another
 * one, also while that one is down. Pure.
 */
import { groupedBy } from '../base/groupedBy.js';
import type { ServerDefinition } from '../config/model.js';
import { agentHostName } from './editorNames.js';
import { transformName } from './names.js';
import { compileFilter, isTooMuchToMatch, judge, patternsOf } from './patterns.js';
import { compileUriFilter, isMadeFrom, isTemplate } from './uris.js';

/**
 * `app`: a name by which apps of the server may call a tool (G8a). `agentHost`: a name in
 * agent-host sessions (G3i).
 */
type Space = 'tool' | 'app' | 'agentHost' | 'prompt' | 'resource';

export interface Claim {
  readonly server: string;
  readonly original: string;
  /**
   * False if another baseline of the server lacks it: a list for other capabilities may have come
   * much later.
   */
  readonly isFirm: boolean;
}

export interface Baselines {
  readonly rules: Pick<ServerDefinition, 'id' | 'tools' | 'transform' | 'prompts' | 'resources'>;
  readonly offers: readonly { readonly kind: string; readonly original: string }[];
  readonly count: number;
  readonly hasApps: boolean;
}

/**
 * The most steps for the URIs of a list, some 20 ms. Further ones are compared when a client reads
 * them.
 */
const mostSteps = 20_000_000;

export class Claims {
  private readonly byKey: ReadonlyMap<string, readonly Claim[]>;
  /** Each server has its own limit of steps, so that no other one can use it up. */
  private readonly templates: readonly (readonly [Claim, ...Claim[]])[];
  private readonly stepsForCharacter: number;

  /** @param servers in file order */
  constructor(servers: readonly Baselines[]) {
    const all = servers.flatMap(claimsOf);
    const sorted = [...all.filter(({ isFirm }) => isFirm), ...all.filter(({ isFirm }) => !isFirm)];
    this.byKey = groupedBy(sorted, ({ key }) => key);
    const templates = sorted.filter(
      ({ key }) => key.startsWith(keyOf('resource', '')) && isTemplate(key),
    );
    this.templates = [
      ...groupedBy(templates, ({ isFirm, server }) => `${isFirm} ${server}`).values(),
    ];
    this.stepsForCharacter = templates.reduce((sum, { key }) => sum + key.length, 0);
  }

  /** The rightful server is the first. */
  of(space: Space, name: string): readonly Claim[] {
    return this.byKey.get(keyOf(space, name)) ?? [];
  }

  /**
   * Returns the claims on the resource or the template, or else on the templates that may have made
   * the URI.
   */
  ofUri(uri: string): readonly Claim[] {
    const listed = this.of('resource', uri);
    if (listed.length > 0) return listed;
    return this.templates.flatMap((own) => {
      const templates = own.map(({ original }) => original);
      return isMadeFrom(templates, uri) ? own[0] : [];
    });
  }

  /** Returns a function like `ofUri` for the URIs of lists, which are many. */
  forList(): (uri: string) => readonly Claim[] {
    let left = mostSteps;
    return (uri) => {
      left -= uri.length * this.stepsForCharacter;
      return left < 0 ? this.of('resource', uri) : this.ofUri(uri);
    };
  }
}

export const noClaims = new Claims([]);

/** Returns the claims of one server under the names that the file gives. */
function claimsOf({
  rules,
  offers,
  count,
  hasApps,
}: Baselines): (Claim & { readonly key: string })[] {
  const filters = {
    tool: compileFilter(rules.tools),
    prompt: compileFilter(rules.prompts.filter),
    resource: compileUriFilter(rules.resources),
  };
  return [...groupedBy(offers, ({ kind }) => kind)].flatMap(([kind, own]) => {
    if (kind !== 'tool' && kind !== 'prompt' && kind !== 'resource') return [];
    const filter = filters[kind];
    const times = groupedBy(own, ({ original }) => original);
    const isTooMuch = isTooMuchToMatch(patternsOf(filter), [...times.keys()]);
    return [...times].flatMap(([original, { length }]) => {
      const isIn = isTooMuch || judge(filter, original).kind === 'in';
      const keys = isIn ? keysFor(kind, original, rules) : [];
      if (hasApps && kind === 'tool') keys.push(keyOf('app', original));
      const claim = {
        server: rules.id,
        original,
        isFirm: length === count,
      };
      return keys.map((key) => ({ key, ...claim }));
    });
  });
}

function keysFor(
  kind: 'tool' | 'prompt' | 'resource',
  original: string,
  rules: Baselines['rules'],
): string[] {
  const { id, transform, prompts } = rules;
  if (kind === 'resource') return [keyOf(kind, original)];
  if (kind === 'prompt') return [keyOf(kind, transformName(original, prompts.transform))];
  const published = transformName(original, transform);
  // Whether the editor cuts the prefix off depends on the other tools, so both names are claimed
  // (G3h).
  const prefix = `${id}_`;
  const inEditor = [
    published,
    published.startsWith(prefix) ? published.slice(prefix.length) : published,
  ];
  return [
    keyOf(kind, published),
    ...inEditor.map((name) => keyOf('agentHost', agentHostName(id, name))),
  ];
}

function keyOf(space: Space, name: string): string {
  return `${space} ${name}`;
}
