/**
 * Saves bytes as files (V2). For the editor, it makes a result readable (V1) and saves the fewest
 * long texts too (V3). Text for the user is measured apart from text for the model, so that neither
 * gets into the other.
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
import { binaryOf, hasModelImage, mostFiles, saveBinaries, tooManyFiles } from './binaries.js';
import {
  composed,
  isPlainText,
  isText,
  isVisibleText,
  marked,
  type TextPart,
} from './forEditor.js';
import { inPieces, inTurns, LoopShare } from '../base/turns.js';

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

  async readable(result: CallToolResult, origin: ArtifactOrigin): Promise<CallToolResult> {
    return (await this.readableWithFiles(result, origin)).result;
  }

  async readableWithApp(
    result: CallToolResult,
    origin: ArtifactOrigin,
    token: string,
  ): Promise<CallToolResult> {
    const forModel = await this.readableWithFiles(forModelOfApp(result), origin);
    return withAppPart(forModel.result, result, token);
  }

  /** @param opens true if the result opens an app, so that its structure is only for the app */
  forConversation(
    result: CallToolResult,
    origin: ArtifactOrigin,
    opens: boolean,
  ): Promise<ReadableResult> {
    return this.readableWithFiles(opens ? forModelOfApp(result) : result, origin);
  }

  async asGiven(result: CallToolResult, origin: ArtifactOrigin): Promise<CallToolResult> {
    await saveBinaries(
      result.content,
      origin,
      this.deps.artifacts,
      mostFiles,
      LoopShare.of(result),
    );
    return result;
  }

  async filesOf(conversation: string): Promise<readonly SavedFile[]> {
    const paths = await this.deps.artifacts.ofConversation(conversation);
    return paths.map((path) => ({ path, isImage: hasModelImage(path) }));
  }

  private async readableWithFiles(
    result: CallToolResult,
    origin: ArtifactOrigin,
  ): Promise<ReadableResult> {
    const { artifacts, maxResultBytes } = this.deps;
    const bytes = maxResultBytes();
    const hasLong = result.structuredContent !== undefined || !fits(textsIn(result.content), bytes);
    if (!hasLong && isPlainText(result)) return { result, files: [] };
    const share = LoopShare.of(result);
    const most = mostFiles - (hasLong ? mostTextFiles : 0);
    const saved = await saveBinaries(result.content, origin, artifacts, most, share);
    const files = [...saved].flatMap(([part, outcome]): SavedFile[] =>
      outcome.kind === 'saved'
        ? [{ path: outcome.path, isImage: binaryOf(part)?.imageType !== undefined }]
        : [],
    );
    let left = mostFiles - files.length;
    const save: TextLimit['save'] = async (content) => {
      if (left-- <= 0) return { kind: 'notSaved', why: tooManyFiles };
      const outcome = await artifacts.save(origin, content);
      if (outcome.kind === 'saved') files.push({ path: outcome.path, isImage: false });
      return outcome;
    };
    const limit: TextLimit = { bytes, save, share };
    const whole = await inTurns(
      composed(result, saved, (json) => fits([json], bytes)),
      share,
    );
    const forModel = await shorten(whole.content, isVisibleText, limit);
    const content = await shorten(forModel, (part) => isText(part) && !isVisibleText(part), limit);
    return { result: marked({ ...whole, content }), files };
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
  return LoopShare.of(result)?.owns(texts) ?? texts;
}

function textsIn(content: CallToolResult['content']): string[] {
  const parts: readonly Partial<ContentBlock>[] = Array.isArray(content) ? content : [];
  return parts.map((part) =>
    part?.type === 'text' && typeof part.text === 'string' ? part.text : '',
  );
}

interface TextLimit {
  readonly bytes: number;
  readonly save: (content: ArtifactContent) => Promise<SaveOutcome>;
  readonly share: LoopShare | undefined;
}

/**
 * Together they stay below the limit of the editor's own agent, which writes a longer text to
 * another file.
 */
const longestHead = 4 << 10;
const longestTail = 2 << 10;
/** A file is written in pieces of this length, in characters. */
const lengthInFile = 1 << 18;
/** If more texts of a result are too long, they become one. */
const mostTextFiles = 8;

function fits(texts: readonly string[], bytes: number): boolean {
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  // A code unit has one to three bytes, so a clearly short or long text need not be counted.
  if (units > bytes || units * 3 <= bytes) return units <= bytes;
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) <= bytes;
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
  if (long === 'all') {
    const text = await shortened(texts.join('\n'), 'txt', limit);
    const others = new Set<ContentBlock>(parts.slice(1));
    return content
      .filter((part) => !others.has(part))
      .map((part) => (part === parts[0] ? { ...part, text } : part));
  }
  const result = [...content];
  for (const [index, part] of content.entries()) {
    if (!isText(part) || !long.has(part)) continue;
    result[index] = { ...part, text: await shortened(part.text, extensionFor(part.text), limit) };
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

async function shortened(
  text: string,
  extension: 'txt' | 'json',
  limit: TextLimit,
): Promise<string> {
  const pieces = await inTurns(
    inPieces(text, (piece) => Buffer.from(piece), lengthInFile),
    limit.share,
  );
  const outcome = await limit.save({ extension, pieces });
  const { head, tail } = excerpt(text, excerptSizes(limit.bytes));
  const where =
    outcome.kind === 'saved'
      ? `All of it is in ${outcome.path}`
      : `It was not saved: ${outcome.why}`;
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const left = formatBytes(bytes - Buffer.byteLength(head) - Buffer.byteLength(tail));
  const line = `[${left} of ${formatBytes(bytes)} left out here, over the limit of ${formatBytes(limit.bytes)}. ${where}]`;
  return `${head}\n\n${line}\n\n${tail}`;
}

type ExcerptSizes = ReturnType<typeof excerptSizes>;

function excerptSizes(limit: number) {
  return {
    head: Math.min(longestHead, limit >> 1),
    tail: Math.min(longestTail, limit >> 2),
  };
}

function extensionFor(text: string): 'txt' | 'json' {
  const isJson =
    /^\s*(?:\{\s*["}]|\[\s*(?:[[\]{"]|-?[\d.]+\s*[,\]]))/.test(text.slice(0, 1_000)) &&
    /[}\]]\s*$/.test(text.slice(-1_000));
  return isJson ? 'json' : 'txt';
}

/** Returns the ends of a text. @param sizes in bytes of UTF-8 */
export function excerpt(text: string, sizes: ExcerptSizes) {
  const first = Buffer.from(text.slice(0, sizes.head)).subarray(0, sizes.head);
  const last = Buffer.from(text.slice(-sizes.tail)).subarray(-sizes.tail);
  let start = 0;
  // These bytes continue a character.
  while (((last[start] ?? 0) & 0xc0) === 0x80) start += 1;
  // A decoder keeps back half a character.
  return { head: new StringDecoder('utf8').write(first), tail: last.toString('utf8', start) };
}
