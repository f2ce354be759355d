/**
 * What a client is sent of a result, as one step between the server's answer and the wire: bytes are saved as files
 * (spec V2) for every client; for the editor the result is made readable (V1) and too long texts go to files (V3). To
 * other clients the result goes as the server gave it: what they show and what they cut is their own business.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { nowhere, type ArtifactOrigin, type ArtifactStore } from './artifacts.js';
import { binaryOf, saveBinaries, type SavedParts } from './binaries.js';
import { composed, isPlainText, marked } from './forEditor.js';
import { fits, withShortStructure, withShortTexts, type TextLimit } from './textLimit.js';

/** Of UTF-8, in one result. */
export const usualMaxResultBytes = 1 << 20;

export interface DeliveryOptions {
  readonly artifacts: ArtifactStore;
  /** Read at each result. */
  readonly maxResultBytes: () => number;
}

export interface ReadableResult {
  /** As `forEditor` has it. */
  readonly result: CallToolResult;
  /** Where its bytes are kept, in their order. */
  readonly files: readonly { readonly path: string; readonly isImage: boolean }[];
}

/** None rejects for what a result holds, or for a disk that does not take it. */
export interface Delivery {
  forEditor(result: CallToolResult, origin: ArtifactOrigin): Promise<CallToolResult>;
  /** For a dialog of our own, which shows a person the files. */
  forDialog(result: CallToolResult, origin: ArtifactOrigin): Promise<ReadableResult>;
  forOthers(result: CallToolResult, origin: ArtifactOrigin): Promise<CallToolResult>;
}

export function createDelivery({ artifacts, maxResultBytes }: DeliveryOptions): Delivery {
  async function readable(result: CallToolResult, origin: ArtifactOrigin): Promise<ReadableResult> {
    const bytes = maxResultBytes();
    if (isPlainText(result) && fits(result.content.map(textOf), bytes)) return { result, files: [] };
    const limit: TextLimit = { bytes, save: (content) => artifacts.save(origin, content) };
    const saved = await saveBinaries(result.content, origin, artifacts);
    const whole = composed(await withShortStructure(result, limit), saved);
    return { result: marked(await withShortTexts(whole, limit)), files: filesOf(saved) };
  }
  return {
    forEditor: async (result, origin) => (await readable(result, origin)).result,
    forDialog: readable,
    forOthers: async (result, origin) => {
      await saveBinaries(result.content, origin, artifacts);
      return result;
    },
  };
}

/** For where nothing is given to write to. */
export function deliveryWithoutFiles(): Delivery {
  const artifacts = nowhere('there is no folder for files');
  return createDelivery({ artifacts, maxResultBytes: () => usualMaxResultBytes });
}

function filesOf(saved: SavedParts): ReadableResult['files'] {
  return [...saved].flatMap(([part, outcome]) =>
    outcome.kind === 'saved' ? [{ path: outcome.path, isImage: binaryOf(part)?.imageType !== undefined }] : [],
  );
}

function textOf(part: CallToolResult['content'][number]): string {
  return part.type === 'text' ? part.text : '';
}
