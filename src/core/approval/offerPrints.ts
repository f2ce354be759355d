/**
 * What a person relies on in a server once they let it start (S3): what models read of its tools and prompts, what these
 * take and give, what tools say of their effects, who sees them, and the server's instructions. Each part is kept as a short hash, for
 * which the order of keys does not count and everything else does. All of this is pure; what was seen before is the
 * shell's knowledge (`OfferReview`).
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonicalJson.js';
import type { Event } from '../base/events.js';
import type { OfferedPrompt, OfferedTool } from '../tools/catalogue.js';
import type { LaunchDescription } from './fingerprint.js';

/** The parts of each kind of offer, in the order of their hashes. */
const partsOf = {
  tool: ['description', 'schema', 'hints', 'visibility'],
  prompt: ['description', 'arguments'],
  instructions: ['text'],
} as const;

export type ReviewedKind = keyof typeof partsOf;

export const reviewedKinds = Object.keys(partsOf) as readonly ReviewedKind[];

/** `new` stands alone: the offer was not there when the server was first listed. */
export type ReviewedPart = (typeof partsOf)[ReviewedKind][number] | 'new';

/** Holds one hash for each part. */
export type OfferPrint = readonly string[];

/** A text that a person reads before they accept an offer, and what it is. JSON is laid out in lines. */
export type OfferText = readonly (readonly [label: string, text: string])[];

/** A tool, a prompt or the instructions, as a server gives them now. */
export interface ReviewedOffer {
  readonly kind: ReviewedKind;
  /** The original name; empty for instructions. */
  readonly name: string;
  readonly print: OfferPrint;
  text(): OfferText;
}

const known = new WeakMap<object, ReviewedOffer>();

export function reviewedTool(tool: OfferedTool): ReviewedOffer {
  return remembered(tool, () => {
    const { name, title, description, inputSchema, outputSchema, annotations, _meta: meta } = tool;
    const { title: shownTitle, ...hints } = annotations ?? {};
    const ui = meta?.['ui'];
    return {
      kind: 'tool',
      name,
      print: [hash([title, description, shownTitle]), hash([inputSchema, outputSchema]), hash(hints), hash([ui])],
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
}

export function reviewedPrompt(prompt: OfferedPrompt): ReviewedOffer {
  return remembered(prompt, () => {
    const { name, title, description, arguments: taken } = prompt;
    return {
      kind: 'prompt',
      name,
      print: [hash([title, description]), hash([taken])],
      text: () => [...said('title', title), ...said('description', description), ...laidOut('arguments', taken)],
    };
  });
}

export function reviewedInstructions(text: string): ReviewedOffer {
  return { kind: 'instructions', name: '', print: [hash([text])], text: () => said('text', text) };
}

function remembered(from: object, make: () => ReviewedOffer): ReviewedOffer {
  const offer = known.get(from) ?? make();
  known.set(from, offer);
  return offer;
}

function said(label: string, text: unknown): [string, string][] {
  return typeof text === 'string' && text !== '' ? [[label, text]] : [];
}

function laidOut(label: string, value: unknown): [string, string][] {
  return value === undefined ? [] : [[label, JSON.stringify(JSON.parse(canonicalJson(value)), null, 2)]];
}

/** Returns the print that these stored hashes are, or undefined. An earlier version stored no `visibility`. */
export function printOf(kind: ReviewedKind, hashes: readonly unknown[]): OfferPrint | undefined {
  const all = kind === 'tool' && hashes.length === 3 ? [...hashes, hash([undefined])] : hashes;
  const isWhole = all.length === partsOf[kind].length && all.every((one) => typeof one === 'string');
  return isWhole ? (all as OfferPrint) : undefined;
}

export function differingParts(kind: ReviewedKind, before: OfferPrint, now: OfferPrint): readonly ReviewedPart[] {
  return partsOf[kind].filter((_, index) => before[index] !== now[index]);
}

export function samePrint(a: OfferPrint, b: OfferPrint): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}

/** Completes “The tool …”: what is not as it was when the server was approved. */
export function changePhrase(parts: readonly ReviewedPart[]): string {
  return parts.includes('new') ? 'new since approval' : `${parts.join(' and ')} changed`;
}

/**
 * Keeps 96 bits, for which nobody finds a second description by chance, and which let thousands of tools fit into a
 * store.
 */
function hash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, 16);
}

/** What tells one offer of a launch from all others. */
export interface OfferName {
  /** The fingerprint of the launch that gives it. */
  readonly launch: string;
  readonly kind: ReviewedKind;
  /** The original name; empty for instructions. */
  readonly original: string;
}

/** A tool, a prompt or instructions that are not what they were when their server was approved (S3). */
export interface ChangedOffer extends OfferName {
  /** Says which parts of it changed; never empty. */
  readonly parts: readonly ReviewedPart[];
  /** Whether it is kept from agents until a person accepts it. */
  readonly held: boolean;
}

/** One list of what a server offers, as far as it is reviewed. */
export interface ReviewedOffers {
  readonly tool: readonly OfferedTool[];
  readonly prompt: readonly OfferedPrompt[];
  readonly instructions: string | undefined;
}

/** Tells offers that changed or came later from the others; the core asks it of its shell. */
export interface OfferReview {
  /**
   * Notes everything that a launch offers to anybody now, the common list first. What is noted the first time is the base
   * line.
   *
   * @param redact removes secrets from what is kept of a text
   */
  note(launch: LaunchDescription, all: readonly ReviewedOffers[], redact: (text: string) => string): void;
  /** Returns the parts that changed of one list, by kind and original name. */
  changesOf(launch: LaunchDescription, offers: ReviewedOffers): OfferChanges;
  /** Whether a changed offer is kept from agents until a person has accepted it. */
  holdsBack(): boolean;
  /** Fires when a change was accepted, when a server was forgotten, and when `holdsBack` changed. */
  readonly onDidChange: Event<void>;
}

export type OfferChanges = Readonly<Record<ReviewedKind, ReadonlyMap<string, readonly ReviewedPart[]>>>;
