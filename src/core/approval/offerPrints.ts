/**
 * The parts of a server's offer on which an approval relies (S3), each as a hash. The order of keys
 * does not count.
 */
import { canonicalJson } from '../base/canonicalJson.js';
import { isTexts } from '../base/isObject.js';
import { perObject } from '../base/perObject.js';
import { longHash, shortened } from '../base/shortHash.js';
import { plainOverrides } from '../config/hash.js';
import type { ToolOverride } from '../config/model.js';
import {
  uriOf,
  type OfferedPrompt,
  type OfferedResource,
  type OfferedTemplate,
  type OfferedTool,
} from '../tools/catalogue.js';
import type { LaunchDescription } from './fingerprint.js';

/** The parts of each kind of offer, in the order of their hashes. */
export const partsOf = {
  tool: ['description', 'schema', 'hints', 'visibility', 'override'],
  prompt: ['description', 'arguments'],
  resource: ['name', 'description', 'media type'],
  instructions: ['text'],
} as const;

export type ReviewedKind = keyof typeof partsOf;

/**
 * `new` is always the only one: the baseline does not contain the offer. So is `lock`: the lock file
 * cannot be read (S3d).
 */
export type ReviewedPart = (typeof partsOf)[ReviewedKind][number] | 'new' | 'lock';

export type OfferPrint = readonly string[];

/** The text of an offer for a person, in labelled parts. JSON is laid out in lines. */
export type OfferText = readonly (readonly [label: string, text: string])[];

export interface ReviewedOffer {
  readonly kind: ReviewedKind;
  /** The URI of a resource or a template. Empty for instructions. */
  readonly original: string;
  readonly print: OfferPrint;
  /**
   * The whole hashes of what the server itself says, without the part of the file. Absent if no lock
   * has such an offer.
   */
  readonly digests?: OfferPrint;
  text(): OfferText;
}

/** What a lock says about a tool, a prompt or the instructions of a server (S3d). */
export type LockedOffer = Required<Pick<ReviewedOffer, 'kind' | 'original' | 'digests'>>;

/** By their keys. */
export type LockedOffers = ReadonlyMap<string, LockedOffer>;

export function reviewedTool(tool: OfferedTool, override?: ToolOverride): ReviewedOffer {
  const plain = plainTool(tool);
  if (!override) return plain;
  return {
    ...plain,
    print: [...plain.print.slice(0, -1), printOf(override)],
    text: () => [...plain.text(), ['override in the config file', yamlOf(override)]],
  };
}

/** The hash of an override as a part of a print. */
export function printOf(override?: ToolOverride): string {
  return shortened(hash([override && plainOverrides(new Map([['', override]]))]));
}

/** Writes an override as in the file. JSON is also YAML. */
function yamlOf({ description, arguments: given }: ToolOverride): string {
  const lines = description === undefined ? [] : [`description: ${JSON.stringify(description)}`];
  if (given.size > 0) lines.push('arguments:');
  for (const [name, { fixed, default: byDefault, allow }] of given) {
    const keys = {
      fixed: fixed?.value,
      default: byDefault?.value,
      allow,
    };
    const written = Object.entries(keys).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}: ${JSON.stringify(value)}`],
    );
    lines.push(`  ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: { ${written.join(', ')} }`);
  }
  return lines.join('\n');
}

const plainTool = perObject((tool: OfferedTool): ReviewedOffer => {
  const { name, title, description, inputSchema, outputSchema, annotations, _meta: meta } = tool;
  const { title: shownTitle, ...hints } = annotations ?? {};
  const ui = meta?.['ui'];
  const parts = [[title, description, shownTitle], [inputSchema, outputSchema], hints, [ui]];
  return {
    kind: 'tool',
    original: name,
    ...hashesOf(parts, [nothing]),
    text: () => [
      ...said('title', title),
      ...said('title that is shown', shownTitle),
      ...said('description', description),
      ...laidOut('input schema', inputSchema),
      ...laidOut('output schema', outputSchema),
      ...laidOut('hints', Object.keys(hints).length > 0 ? hints : undefined),
      ...laidOut('app and visibility', ui),
    ],
  };
});

/** True if the tool names an app, or its visibility (G8). */
export function isAboutApps({ kind, print }: Pick<ReviewedOffer, 'kind' | 'print'>): boolean {
  return kind === 'tool' && print[partsOf.tool.indexOf('visibility')] !== nothing;
}

export const reviewedPrompt = perObject((prompt: OfferedPrompt): ReviewedOffer => {
  const { name, title, description, arguments: taken } = prompt;
  return {
    kind: 'prompt',
    original: name,
    ...hashesOf([[title, description], [taken]]),
    text: () => [
      ...said('title', title),
      ...said('description', description),
      ...laidOut('arguments', taken),
    ],
  };
});

export const reviewedResource = perObject(
  (one: OfferedResource | OfferedTemplate): ReviewedOffer => {
    const { name, title, description, mimeType } = one;
    return {
      kind: 'resource',
      original: uriOf(one),
      print: hashesOf([[name, title], [description], [mimeType]]).print,
      text: () => [
        ...said('name', name),
        ...said('title', title),
        ...said('description', description),
        ...said('media type', mimeType),
      ],
    };
  },
);

/** @param own the part that the server says */
export function reviewedInstructions(text: string, own: string | undefined): ReviewedOffer {
  return {
    kind: 'instructions',
    original: '',
    print: [shortened(hash([text]))],
    ...(own !== undefined && { digests: [hash([own])] }),
    text: () => said('text', text),
  };
}

function said(label: string, text: unknown): [string, string][] {
  return typeof text === 'string' && text !== '' ? [[label, text]] : [];
}

function laidOut(label: string, value: unknown): [string, string][] {
  return value === undefined
    ? []
    : [[label, JSON.stringify(JSON.parse(canonicalJson(value)), null, 2)]];
}

export function isPrint(kind: ReviewedKind, hashes: readonly unknown[]): hashes is OfferPrint {
  return hashes.length === partsOf[kind].length && isTexts(hashes);
}

export function partsChanged(
  { kind, print }: ReviewedOffer,
  was?: { readonly print: OfferPrint },
): ReviewedPart[] {
  if (!was) return ['new'];
  if (print.every((part, index) => part === was.print[index])) return [];
  return partsOf[kind].filter((_, index) => was.print[index] !== print[index]);
}

/** Returns the changed parts, and whether only the file has changed and overrides the tool now. */
export function changeIn(offer: ReviewedOffer, was: Parameters<typeof partsChanged>[1]) {
  const parts = partsChanged(offer, was);
  const isOfFile = parts.join() === 'override' && offer.print.at(-1) !== nothing;
  return { parts, ...(isOfFile && { isOfFile }) };
}

function hash(value: unknown): string {
  return longHash(canonicalJson(value));
}

function hashesOf(parts: readonly unknown[], more: OfferPrint = []) {
  const digests = parts.map(hash);
  return { digests, print: [...digests.map(shortened), ...more] };
}

const wholeNothing = hash([undefined]);
const nothing = shortened(wholeNothing);

/** The digests that a lock leaves out. */
export const absentDigests: Readonly<Record<string, string>> = {
  hints: hash({}),
  visibility: wholeNothing,
};

export type OfferRef = Pick<ReviewedOffer, 'kind' | 'original'>;

export type OfferName = OfferRef & { readonly launch: string };

export type ChangedOffer = OfferName & {
  readonly parts: readonly ReviewedPart[];
  readonly isOfFile?: boolean;
  readonly held: boolean;
};

/**
 * The most resources, and the most templates, in a baseline. The others of a longer list count as
 * new.
 */
export const mostReviewed = 2_000;

/** Every offer of a server by kind and name. */
export type ReviewedOffers = ReadonlyMap<string, ReviewedOffer>;

export function keyOf({ kind, original }: OfferRef): string {
  return `${kind} ${original}`;
}

/**
 * A launch for clients with the same declared capabilities. Its fingerprint differs from the
 * fingerprint for others.
 */
export type ReviewedLaunch = LaunchDescription & { readonly declared?: string };

export type OfferChanges = ReadonlyMap<string, OfferRef & Pick<ChangedOffer, 'parts' | 'isOfFile'>>;
