/**
 * Prepares a result for a client. Bytes are saved as files for every client (V2). For the editor the result is made
 * readable (V1), and long texts go to files (V3). Other clients decide themselves what they show and cut.
 *
 * As few texts as possible go to files, the longest first. If there are too many for that, all of them become one. Text
 * for the user is measured apart from text for the model, so that neither gets into the other.
 */
import { StringDecoder } from 'node:string_decoder';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { withAppPart } from '../apps/editorApps.js';
import {
  formatBytes,
  nowhere,
  type ArtifactContent,
  type ArtifactOrigin,
  type ArtifactStore,
  type SaveOutcome,
} from './artifacts.js';
import { binaryOf, hasModelImage, mostFiles, saveBinaries, tooManyFiles, type SavedParts } from './binaries.js';
import { composed, isPlainText, isSaidIn, isText, isVisibleText, marked, type TextPart } from './forEditor.js';
import { even, jsonPieces, type Pieces } from './pieces.js';

/** In bytes of UTF-8. */
const usualMaxResultBytes = 1 << 20;

interface DeliveryDeps {
  readonly artifacts: ArtifactStore;
  readonly maxResultBytes: () => number;
}

interface SavedFile {
  readonly path: string;
  /** True for an image of a type that models take. */
  readonly isImage: boolean;
}

interface ReadableResult {
  readonly result: CallToolResult;
  /** The files with its bytes, then the files with its long texts. */
  readonly files: readonly SavedFile[];
}

/** Nothing here rejects because of a result or a full disk. */
export class Delivery {
  constructor(private readonly deps: DeliveryDeps) {}

  async forEditor(result: CallToolResult, origin: ArtifactOrigin): Promise<CallToolResult> {
    return (await this.readable(result, origin)).result;
  }

  /** For a result that opens an app (G8). The token identifies the conversation. */
  async forEditorWithApp(result: CallToolResult, origin: ArtifactOrigin, token: string): Promise<CallToolResult> {
    const forModel = await this.readable(forModelOfApp(result), origin);
    return withAppPart(forModel.result, result, token);
  }

  /** @param opens true if the result opens an app, so that its structure is only for the app */
  forConversation(result: CallToolResult, origin: ArtifactOrigin, opens: boolean): Promise<ReadableResult> {
    return this.readable(opens ? forModelOfApp(result) : result, origin);
  }

  async forOthers(result: CallToolResult, origin: ArtifactOrigin): Promise<CallToolResult> {
    await saveBinaries(result.content, origin, this.deps.artifacts);
    return result;
  }

  /** Resolves with the conversation's files that still exist, oldest first. */
  async filesOf(conversation: string): Promise<readonly SavedFile[]> {
    const paths = await this.deps.artifacts.ofConversation(conversation);
    return paths.map((path) => ({ path, isImage: hasModelImage(path) }));
  }

  private async readable(result: CallToolResult, origin: ArtifactOrigin): Promise<ReadableResult> {
    const { artifacts, maxResultBytes } = this.deps;
    const bytes = maxResultBytes();
    const hasLong = result.structuredContent !== undefined || !fits(textsIn(result.content), bytes);
    if (!hasLong && isPlainText(result)) return { result, files: [] };
    const saved = await saveBinaries(result.content, origin, artifacts, mostFiles - (hasLong ? mostTextFiles : 0));
    const files = filesIn(saved);
    let left = mostFiles - files.length;
    const save: TextLimit['save'] = async (content) => {
      if (left-- <= 0) return { kind: 'notSaved', why: tooManyFiles };
      const outcome = await artifacts.save(origin, content);
      if (outcome.kind === 'saved') files.push({ path: outcome.path, isImage: false });
      return outcome;
    };
    const limit: TextLimit = { bytes, save };
    const whole = await composed(await withShortStructure(result, limit), saved);
    return { result: marked(await withShortTexts(whole, limit)), files };
  }
}

export function deliveryWithoutFiles(): Delivery {
  const artifacts = nowhere('there is no folder for files');
  return new Delivery({ artifacts, maxResultBytes: () => usualMaxResultBytes });
}

/** The structure is for the app. Without any text, it is for the model too (V1). */
function forModelOfApp(result: CallToolResult): CallToolResult {
  if (!Array.isArray(result.content) || !result.content.some(isVisibleText)) return result;
  const texts = { ...result };
  delete texts.structuredContent;
  return texts;
}

function filesIn(saved: SavedParts): SavedFile[] {
  return [...saved].flatMap(([part, outcome]) =>
    outcome.kind === 'saved' ? [{ path: outcome.path, isImage: binaryOf(part)?.imageType !== undefined }] : [],
  );
}

function textsIn(content: CallToolResult['content']): string[] {
  // Servers promise the declared type and may send anything.
  const parts: readonly Partial<ContentBlock>[] = Array.isArray(content) ? content : [];
  return parts.map((part) => (part?.type === 'text' && typeof part.text === 'string' ? part.text : ''));
}

interface TextLimit {
  readonly bytes: number;
  readonly save: (content: ArtifactContent) => Promise<SaveOutcome>;
}

/** Together they stay below the limit of the editor's own agent, which writes a longer text to another file. */
const longestHead = 4 << 10;
const longestTail = 2 << 10;
/** If more texts of a result are too long, they become one. */
const mostTextFiles = 8;
/** Longer texts are not parsed as JSON, because parsing would hold everything up. */
const longestParse = 1 << 20;

function fits(texts: readonly string[], bytes: number): boolean {
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  // A code unit has one to three bytes, so a clearly short or long text need not be counted.
  if (units > bytes || units * 3 <= bytes) return units <= bytes;
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) <= bytes;
}

/** Turns structured content over the limit into a text, or drops it if a text of the result has the same content. */
async function withShortStructure(result: CallToolResult, limit: TextLimit): Promise<CallToolResult> {
  const { structuredContent, ...rest } = result;
  if (structuredContent === undefined || structuredContent === null) return result;
  if (jsonFits(structuredContent, limit.bytes)) return result;
  const content: readonly ContentBlock[] = Array.isArray(rest.content) ? rest.content : [];
  if (await isSaidIn(content, structuredContent)) return { ...rest, content: [...content] };
  const text = await shortened(() => jsonPieces(structuredContent), 'json', limit);
  return { ...rest, content: [...content, { type: 'text', text }] };
}

async function withShortTexts(result: CallToolResult, limit: TextLimit): Promise<CallToolResult> {
  const forModel = await shorten(result.content, isVisibleText, limit);
  const content = await shorten(forModel, (part) => isText(part) && !isVisibleText(part), limit);
  return content === result.content ? result : { ...result, content };
}

async function shorten(
  content: ContentBlock[],
  isMeant: (part: ContentBlock) => boolean,
  limit: TextLimit,
): Promise<ContentBlock[]> {
  const parts = content.filter((part): part is TextPart => isText(part) && isMeant(part));
  const texts = parts.map(({ text }) => text);
  if (fits(texts, limit.bytes)) return content;
  const long = longOnes(parts, limit.bytes);
  const result: ContentBlock[] = [];
  if (long === 'all') {
    const [first] = parts;
    const others = new Set<ContentBlock>(parts.slice(1));
    for (const part of content) {
      if (part === first) result.push({ ...first, text: await shortened(() => joined(texts), 'txt', limit) });
      else if (!others.has(part)) result.push(part);
    }
    return result;
  }
  for (const part of content) {
    const text = isText(part) && long.has(part) ? part.text : undefined;
    if (text === undefined) result.push(part);
    else result.push({ ...part, type: 'text', text: await shortened(() => [text], extensionFor(text), limit) });
  }
  return result;
}

/** Returns the fewest texts to shorten, if a few are enough. */
function longOnes(parts: readonly TextPart[], limit: number): ReadonlySet<TextPart> | 'all' {
  const { head, tail } = excerptSizes(limit);
  const units = parts.reduce((sum, { text }) => sum + text.length, 0);
  // Code units cost nothing to count, and bytes matter only near the limit.
  const measure = (text: string): number => (units > limit ? text.length : Buffer.byteLength(text));
  const sorted = [...parts].sort((a, b) => b.text.length - a.text.length);
  let rest = sorted.reduce((sum, { text }) => sum + measure(text), 0);
  const long = new Set<TextPart>();
  for (const part of sorted.slice(0, mostTextFiles)) {
    const size = measure(part.text);
    if (rest <= limit || size <= head + tail) break;
    long.add(part);
    rest -= size;
  }
  return rest <= limit ? long : 'all';
}

async function shortened(texts: () => Iterable<string>, extension: 'txt' | 'json', limit: TextLimit): Promise<string> {
  const excerpt = new Excerpt(excerptSizes(limit.bytes));
  const outcome = await limit.save({ extension, pieces: excerpt.of(even(texts())) });
  const { head, tail, bytes } = excerpt;
  const where = outcome.kind === 'saved' ? `All of it is in ${outcome.path}` : `It was not saved: ${outcome.why}`;
  const left = formatBytes(bytes - Buffer.byteLength(head) - Buffer.byteLength(tail));
  const line = `[${left} of ${formatBytes(bytes)} left out here, over the limit of ${formatBytes(limit.bytes)}. ${where}]`;
  return `${head}\n\n${line}\n\n${tail}`;
}

function excerptSizes(limit: number): { readonly head: number; readonly tail: number } {
  return { head: Math.min(longestHead, limit >> 1), tail: Math.min(longestTail, limit >> 2) };
}

function* joined(texts: readonly string[]): Generator<string> {
  for (const [index, text] of texts.entries()) {
    if (index > 0) yield '\n';
    yield text;
  }
}

function jsonFits(value: unknown, limit: number): boolean {
  let bytes = 0;
  for (const piece of even(jsonPieces(value))) {
    bytes += Buffer.byteLength(piece);
    if (bytes > limit) return false;
  }
  return true;
}

function extensionFor(text: string): 'txt' | 'json' {
  if (!/^\s*(?:\{\s*["}]|\[\s*[[\]{"\d-])/.test(text.slice(0, 1_000))) return 'txt';
  if (!/[}\]]\s*$/.test(text.slice(-1_000))) return 'txt';
  if (text.length > longestParse) return 'json';
  try {
    JSON.parse(text);
    return 'json';
  } catch {
    return 'txt';
  }
}

export class Excerpt {
  bytes = 0;
  private headBytes: Uint8Array = new Uint8Array();
  private tailBytes: Uint8Array = new Uint8Array();

  /** @param sizes in bytes of UTF-8; head and tail overlap in a text shorter than both */
  constructor(private readonly sizes: { readonly head: number; readonly tail: number }) {}

  *of(texts: Iterable<string>): Pieces {
    for (const text of texts) {
      const piece = Buffer.from(text);
      this.note(piece);
      yield piece;
    }
    return undefined;
  }

  get head(): string {
    // A decoder keeps back half a character.
    return new StringDecoder('utf8').write(Buffer.from(this.headBytes));
  }

  get tail(): string {
    let start = 0;
    // These bytes continue a character.
    while (((this.tailBytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return Buffer.from(this.tailBytes).toString('utf8', start);
  }

  private note(piece: Uint8Array): void {
    this.bytes += piece.length;
    const { head, tail } = this.sizes;
    const missing = head - this.headBytes.length;
    // These are copies, because a view would keep the whole piece alive.
    if (missing > 0) this.headBytes = Buffer.concat([this.headBytes, piece.subarray(0, missing)]);
    const last = piece.length >= tail ? [piece.subarray(piece.length - tail)] : [this.tailBytes, piece];
    const joined = Buffer.concat(last);
    this.tailBytes = joined.subarray(Math.max(0, joined.length - tail));
  }
}
