/**
 * Prepares a result for a client. Bytes are saved as files for every client (V2). For the editor the result is made
 * readable (V1), and long texts go to files (V3). Other clients decide themselves what they show and cut.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { withAppPart } from '../apps/editorApps.js';
import { nowhere, type ArtifactOrigin, type ArtifactStore } from './artifacts.js';
import { binaryOf, mostFiles, saveBinaries, tooManyFiles, type SavedParts } from './binaries.js';
import { composed, isPlainText, marked, isVisibleText } from './forEditor.js';
import { hasModelImage } from './mediaTypes.js';
import { fits, mostTextFiles, withShortStructure, withShortTexts, type TextLimit } from './textLimit.js';

/** In bytes of UTF-8. */
export const usualMaxResultBytes = 1 << 20;

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
    const whole = composed(await withShortStructure(result, limit), saved);
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
