/**
 * Prepares a result for a client, in one step between the server's answer and the wire. Bytes are saved as files for
 * every client (V2). For the editor the result is made readable (V1), and long texts go to files (V3). Other clients
 * get the server's own result, because they decide themselves what they show and cut.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { withAppPart } from '../apps/editorApps.js';
import { nowhere, type ArtifactOrigin, type ArtifactStore } from './artifacts.js';
import { binaryOf, mostFiles, saveBinaries, tooManyFiles, type SavedParts } from './binaries.js';
import { composed, isPlainText, marked } from './forEditor.js';
import { hasModelImage } from './mediaTypes.js';
import { isVisibleText } from './readable.js';
import { fits, mostTextFiles, withShortStructure, withShortTexts, type TextLimit } from './textLimit.js';

/** Counts bytes of UTF-8 in one result. */
const usualMaxResultBytes = 1 << 20;

interface DeliveryDeps {
  readonly artifacts: ArtifactStore;
  /** Returns the limit. Read at each result. */
  readonly maxResultBytes: () => number;
}

interface SavedFile {
  /** The absolute path. */
  readonly path: string;
  /** True for an image of a type that models take. */
  readonly isImage: boolean;
}

interface ReadableResult {
  /** In the form of `forEditor`. */
  readonly result: CallToolResult;
  /** The files with its bytes, in their order, and then the files with its long texts. */
  readonly files: readonly SavedFile[];
}

/** Nothing here rejects because of a result or a full disk. */
export interface Delivery {
  forEditor(result: CallToolResult, origin: ArtifactOrigin): Promise<CallToolResult>;
  /**
   * For the editor if the result opens an app (G8): the model gets the text, and the app gets the server's own result.
   * @param token identifies the conversation
   */
  forEditorWithApp(result: CallToolResult, origin: ArtifactOrigin, token: string): Promise<CallToolResult>;
  /**
   * For a conversation of the chat participant, which shows a person the files.
   * @param opens true if the result opens an app, so that its structure is only for the app
   */
  forConversation(result: CallToolResult, origin: ArtifactOrigin, opens: boolean): Promise<ReadableResult>;
  forOthers(result: CallToolResult, origin: ArtifactOrigin): Promise<CallToolResult>;
  /** Resolves with the conversation's files that still exist, oldest first. */
  filesOf(conversation: string): Promise<readonly SavedFile[]>;
}

export function createDelivery({ artifacts, maxResultBytes }: DeliveryDeps): Delivery {
  async function readable(result: CallToolResult, origin: ArtifactOrigin): Promise<ReadableResult> {
    const bytes = maxResultBytes();
    if (isPlainText(result) && fits(textsIn(result.content), bytes)) return { result, files: [] };
    const texts: SavedFile[] = [];
    let left = mostFiles;
    const save: TextLimit['save'] = async (content) => {
      if (left-- <= 0) return { kind: 'notSaved', why: tooManyFiles };
      const outcome = await artifacts.save(origin, content);
      if (outcome.kind === 'saved') texts.push({ path: outcome.path, isImage: false });
      return outcome;
    };
    const limit: TextLimit = { bytes, save };
    const hasLong = result.structuredContent !== undefined || !fits(textsIn(result.content), bytes);
    const saved = await saveBinaries(result.content, origin, artifacts, mostFiles - (hasLong ? mostTextFiles : 0));
    left -= filesIn(saved).length;
    const whole = composed(await withShortStructure(result, limit), saved);
    const shortened = await withShortTexts(whole, limit);
    return { result: marked(shortened), files: [...filesIn(saved), ...texts] };
  }
  return {
    forEditor: async (result, origin) => (await readable(result, origin)).result,
    forEditorWithApp: async (result, origin, token) => {
      const forModel = await readable(forModelOfApp(result), origin);
      return withAppPart(forModel.result, result, token);
    },
    forConversation: (result, origin, opens) => readable(opens ? forModelOfApp(result) : result, origin),
    forOthers: async (result, origin) => {
      await saveBinaries(result.content, origin, artifacts);
      return result;
    },
    filesOf: async (conversation) =>
      (await artifacts.ofConversation(conversation)).map((path) => ({ path, isImage: hasModelImage(path) })),
  };
}

export function deliveryWithoutFiles(): Delivery {
  const artifacts = nowhere('there is no folder for files');
  return createDelivery({ artifacts, maxResultBytes: () => usualMaxResultBytes });
}

/** The structure is for the app. Without any text, it is for the model too (V1). */
function forModelOfApp(result: CallToolResult): CallToolResult {
  if (!Array.isArray(result.content) || !result.content.some(isVisibleText)) return result;
  const texts = { ...result };
  delete texts.structuredContent;
  return texts;
}

function filesIn(saved: SavedParts): ReadableResult['files'] {
  return [...saved].flatMap(([part, outcome]) =>
    outcome.kind === 'saved' ? [{ path: outcome.path, isImage: binaryOf(part)?.imageType !== undefined }] : [],
  );
}

function textsIn(content: CallToolResult['content']): string[] {
  // Servers promise the declared type and may send anything.
  const parts: readonly Partial<ContentBlock>[] = Array.isArray(content) ? content : [];
  return parts.map((part) => (part?.type === 'text' && typeof part.text === 'string' ? part.text : ''));
}
