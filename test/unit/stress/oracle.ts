/**
 * The expected tools and problems, derived from the file, from the offers of servers and from the
 * history of working definitions. The rules are written down a second time, in another way (spec N,
 * R). It knows no connection and no code of the product.
 */
import type { EntryModel, FileModel, Step } from './edits.js';

export interface Serving {
  readonly launch: string;
  readonly stateless: boolean;
  view: View;
  offers: readonly string[];
  /** A later list of the server with two tools of one name. */
  rejected: readonly string[] | undefined;
  refreshFailed: boolean;
  /** Grows with each replacement of the serving definition. */
  readonly generation: number;
}

type View = Pick<EntryModel, 'whitelist' | 'blacklist' | 'transform'>;

export interface History {
  serving: Serving | undefined;
  /** A starting definition that will replace the serving one. */
  pending: { readonly launch: string; readonly stateless: boolean; view: View } | undefined;
  stopped: string | undefined;
  /** Why the definition of the file does not serve. */
  wantedTrouble: string | undefined;
  /** An instance was lost or did not start since the serving definition last started one. */
  servingTrouble: boolean;
}

export type StartOutcome = { readonly offers: readonly string[] } | { readonly failure: string };

const nameRule = /^[a-zA-Z0-9_-]{1,64}$/;
/**
 * The errors that the stress tests cause. `lost` stands for two codes, and only one of them is an
 * error.
 */
const errors = new Set([
  'yaml-syntax',
  'server-exited',
  'command-not-found',
  'name-twice-in-server',
]);
let generations = 0;

export class Oracle {
  /** The last text of the file without a whole refusal. */
  private entries: readonly EntryModel[] = [];
  private refused = false;
  private hostValue = '';
  private readonly histories = new Map<string, History>();

  constructor(private readonly reserved: ReadonlySet<string>) {}

  get ids(): string[] {
    return this.entries.map(({ id }) => id);
  }

  entry(id: string): EntryModel | undefined {
    return this.entries.find((entry) => entry.id === id);
  }

  history(id: string): History {
    const known = this.histories.get(id);
    if (known) return known;
    const made: History = {
      serving: undefined,
      pending: undefined,
      stopped: undefined,
      wantedTrouble: undefined,
      servingTrouble: false,
    };
    this.histories.set(id, made);
    return made;
  }

  launchOf(entry: EntryModel): string {
    return [entry.program, entry.nonce, entry.stateless, this.hostValue].join('|');
  }

  /** Applies the part of an edit that happens at once. The starts are in `pending` then. */
  apply(file: FileModel, hostValue: string): void {
    this.refused = file.broken;
    if (file.broken) {
      // An earlier text is read with the host's values of its time.
      for (const entry of this.entries) this.applyEntry(entry);
      return;
    }
    this.hostValue = hostValue;
    this.entries = file.entries;
    for (const id of this.histories.keys()) if (!this.entry(id)) this.histories.delete(id);
    for (const entry of this.entries) this.applyEntry(entry);
  }

  private applyEntry(entry: EntryModel): void {
    const history = this.history(entry.id);
    if (isWrong(entry)) {
      history.pending = undefined;
      history.wantedTrouble = undefined;
      return;
    }
    if (!entry.enabled) {
      this.forget(history);
      return;
    }
    const launch = this.launchOf(entry);
    if (history.stopped === launch + viewKey(entry)) return;
    history.stopped = undefined;
    const { serving } = history;
    if (serving?.launch === launch) {
      history.pending = undefined;
      history.wantedTrouble = undefined;
      this.review(history, serving, entry);
    } else if (history.pending?.launch === launch) {
      history.pending.view = entry;
    } else {
      history.pending = { launch, stateless: entry.stateless, view: entry };
    }
  }

  /** Notes the outcome of a pending start. Returns the serving generation if it changed. */
  settle(id: string, outcome: StartOutcome): number | undefined {
    const history = this.history(id);
    const { pending } = history;
    if (!pending) throw new Error(`nothing of ${id} was starting`);
    history.pending = undefined;
    if ('failure' in outcome) {
      history.wantedTrouble = outcome.failure;
      return undefined;
    }
    const { launch, stateless, view } = pending;
    if (curate(view, outcome.offers).twice) {
      history.wantedTrouble = 'name-twice-in-server';
      return undefined;
    }
    const generation = ++generations;
    const { offers } = outcome;
    history.serving = {
      launch,
      stateless,
      view,
      offers,
      rejected: undefined,
      refreshFailed: false,
      generation,
    };
    history.wantedTrouble = undefined;
    history.servingTrouble = false;
    return generation;
  }

  /** Notes a new list of the serving definition. */
  relisted(serving: Serving, offers: readonly string[] | undefined): void {
    if (offers === undefined) {
      serving.refreshFailed = true;
    } else if (curate(serving.view, offers).twice) {
      serving.refreshFailed = true;
      serving.rejected = offers;
    } else {
      serving.offers = offers;
      serving.rejected = undefined;
      serving.refreshFailed = false;
    }
  }

  stop(id: string): void {
    const entry = this.entry(id);
    const history = this.history(id);
    const valid = entry && !isWrong(entry) && entry.enabled;
    if (!valid && !history.serving) return;
    const stopped = valid
      ? this.launchOf(entry) + viewKey(entry)
      : history.serving && history.serving.launch + viewKey(history.serving.view);
    this.forget(history);
    history.stopped = stopped;
  }

  /** Notes that a person starts the definition of the file. Returns true if it serves already. */
  start(id: string): boolean {
    const entry = this.entry(id);
    const history = this.history(id);
    history.stopped = undefined;
    if (!entry || isWrong(entry) || !entry.enabled) return false;
    const launch = this.launchOf(entry);
    if (history.serving?.launch === launch) return true;
    history.pending ??= { launch, stateless: entry.stateless, view: entry };
    return false;
  }

  /**
   * `id/published`, in file order. The tools of a server are sorted, because their order depends on
   * its earlier lists.
   */
  published(): string[] {
    return this.claims().published.map(({ id, name }) => `${id}/${name}`);
  }

  /** Returns the server's name of a published tool. */
  original(id: string, name: string): string | undefined {
    return this.claims().published.find((tool) => tool.id === id && tool.name === name)?.original;
  }

  /**
   * Codes, sorted, except those of servers that are starting. `lost` stands for each of its two
   * codes.
   */
  problems(): string[] {
    const codes: string[] = this.refused ? ['yaml-syntax'] : [];
    codes.push(...this.claims().problems);
    for (const entry of this.entries) {
      const history = this.history(entry.id);
      const { serving } = history;
      if (!this.refused && entry.fault === 'command') codes.push('wrong-type');
      if (!this.refused && entry.fault === 'variable' && entry.enabled) codes.push('env-unset');
      if (serving && this.isAsWritten(serving, entry))
        codes.push(...curate(serving.view, serving.offers).problems);
      if (serving?.refreshFailed) codes.push('refresh-failed');
      if (history.wantedTrouble !== undefined) codes.push(history.wantedTrouble);
      if (history.servingTrouble) codes.push('lost');
    }
    // A problem of an earlier text is shown only if it is an error.
    return codes.filter((code) => !this.refused || errors.has(code)).sort();
  }

  get isSettled(): boolean {
    return [...this.histories.values()].every(({ pending }) => pending === undefined);
  }

  isAsWritten(serving: Serving, entry: EntryModel): boolean {
    return (
      !isWrong(entry) &&
      entry.enabled &&
      serving.launch === this.launchOf(entry) &&
      viewKey(serving.view) === viewKey(entry)
    );
  }

  private review(history: History, serving: Serving, view: View): void {
    if (serving.rejected && !curate(view, serving.rejected).twice) {
      serving.offers = serving.rejected;
      serving.rejected = undefined;
      serving.refreshFailed = false;
    } else if (curate(view, serving.offers).twice) {
      history.wantedTrouble = 'name-twice-in-server';
      return;
    }
    serving.view = view;
  }

  private forget(history: History): void {
    history.serving = undefined;
    history.pending = undefined;
    history.stopped = undefined;
    history.wantedTrouble = undefined;
    history.servingTrouble = false;
  }

  private claims(): {
    published: { id: string; name: string; original: string }[];
    problems: string[];
  } {
    const taken = new Map<string, string>();
    const published: { id: string; name: string; original: string }[] = [];
    const problems: string[] = [];
    for (const { id } of this.entries) {
      const { serving } = this.history(id);
      if (!serving) continue;
      // Names with one common remedy are one problem.
      const reasons = new Set<string>();
      const { tools } = curate(serving.view, serving.offers);
      for (const { original, name } of [...tools].sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (this.reserved.has(name)) reasons.add('name-reserved');
        else if (taken.has(name)) reasons.add(`name-taken ${taken.get(name)}`);
        else {
          if (`mcp_${id}_${name}`.length > 64) reasons.add('editor-id-too-long');
          taken.set(name, id);
          published.push({ id, name, original });
        }
      }
      for (const reason of reasons) problems.push(reason.split(' ')[0] ?? reason);
    }
    return { published, problems };
  }
}

/** A disabled entry may be wrong, and its mistakes are information (C1). */
export function isWrong(entry: EntryModel): boolean {
  return entry.enabled && (entry.fault === 'command' || entry.fault === 'variable');
}

function viewKey({ whitelist, blacklist, transform }: View): string {
  return JSON.stringify([whitelist, blacklist, transform]);
}

function curate(
  { whitelist, blacklist, transform }: View,
  offers: readonly string[],
): { tools: { original: string; name: string }[]; twice: boolean; problems: string[] } {
  const problems: string[] = [];
  for (const pattern of [...whitelist, ...blacklist]) {
    if (!offers.some((name) => matches(pattern, name))) problems.push('pattern-matches-nothing');
  }
  for (const pattern of blacklist) {
    const hit = offers.filter((name) => matches(pattern, name));
    // Names that overrule a pattern leave it its effect on later names.
    const rescuers = whitelist.filter((one) => one.includes('*') || !pattern.includes('*'));
    if (hit.length > 0 && hit.every((name) => rescuers.some((one) => matches(one, name)))) {
      problems.push('pattern-overruled');
    }
  }
  const white = (name: string): boolean => whitelist.some((pattern) => matches(pattern, name));
  const black = (name: string): boolean => blacklist.some((pattern) => matches(pattern, name));
  const out = (name: string): boolean =>
    blacklist.length > 0 ? black(name) && !white(name) : whitelist.length > 0 && !white(name);
  if (offers.some(out)) problems.push('filtered-tools');
  const named = offers
    .filter((name) => !out(name))
    .map((original) => ({ original, name: transform.reduce(transformed, original) }));
  const tools = named.filter(({ name }) => nameRule.test(name));
  for (let dropped = named.length - tools.length; dropped > 0; dropped--)
    problems.push('published-name-invalid');
  return { tools, twice: new Set(tools.map(({ name }) => name)).size < tools.length, problems };
}

function matches(pattern: string, name: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(name);
}

function transformed(name: string, step: Step): string {
  if ('suffix' in step) return name + step.suffix;
  if (typeof step.prefix === 'string') return step.prefix + name;
  const { remove, add } = step.prefix;
  return add + (name.startsWith(remove) ? name.slice(remove.length) : name);
}
