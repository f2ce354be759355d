/**
 * Shows a turn in the chat: the streamed answer with its files (V2), a line for each call, and
 * errors.
 */
import * as vscode from 'vscode';
import { asMarkdown, code, inert, formatted, linkTarget } from '../../core/base/inert.js';
import type { Audience } from '../../core/minds/conversation.js';
import { AnswerLinks, type AnswerPiece } from '../../core/minds/answerLinks.js';
import type { ResultFile } from '../../core/minds/model.js';
import { mostRetries } from '../../core/minds/modelFailures.js';
import { markdownString, type InertStream } from '../views/inertEditor.js';
import { present, shortLine } from '../views/phrases.js';
import { toolOf, type ArtifactLinks } from './artifactLinks.js';

interface ChatAudienceDeps {
  readonly stream: InertStream;
  readonly pageOf: (record: string) => vscode.Uri | undefined;
  readonly artifacts: ArtifactLinks;
  /** The files of earlier turns, to which an answer may link. */
  readonly files: readonly ResultFile[];
  readonly redact: (text: string) => string;
}

/** Call `end` once, at the end of the turn. */
export function chatAudience(deps: ChatAudienceDeps): Audience & { end(): void } {
  const { stream, pageOf, artifacts, files, redact } = deps;
  const known = new Map(files.map((file) => [file.path, file]));
  const links = new AnswerLinks((target) => known.get(target) ?? known.get(pathOf(target)));
  const endText = (): void => showPieces(stream, artifacts, links.end());
  const shownLines = new Map<string, string>();
  /**
   * The last app of each tool. The chat folds everything before the answer, so buttons follow it.
   */
  const apps = new Map<string, string>();
  return {
    end: () => {
      endText();
      for (const [tool, app] of apps) {
        const title = inert`Open App of ${tool}`;
        stream.button({ command: 'mcpToolsets.openApp', title, arguments: [app] });
      }
    },
    text: (text) => showPieces(stream, artifacts, links.push(text)),
    retrying: ({ attempt, delayMs, cause }, brokeOff) => {
      endText();
      const seconds = Math.max(1, Math.round(delayMs / 1000));
      const again = `Attempt ${attempt} of ${mostRetries} follows in ${seconds} s.`;
      if (brokeOff)
        stream.markdown(formatted`\n\n*The answer broke off here and begins again.*\n\n`);
      stream.progress(
        formatted`The model's provider did not answer: ${shortLine(redact(cause))}. ${again}`,
      );
    },
    calling: (calls) => {
      endText();
      stream.markdown(formatted`\n\n`);
      stream.progress(formatted`Calling ${calls.map(({ tool }) => tool).join(', ')} …`);
    },
    progress: ({ id, tool }, { progress, total, message }) => {
      const part =
        total !== undefined && total > 0 ? ` (${Math.round((progress / total) * 100)} %)` : '';
      const line = `${tool}: ${message === undefined ? 'working' : shortLine(redact(message))}${part}`;
      if (shownLines.get(id) === line) return;
      shownLines.set(id, line);
      stream.progress(formatted`${line}`);
    },
    finished: ({ tool }, { isError, parts, files: left = [], record, app }) => {
      const page = record === undefined ? undefined : pageOf(record);
      const icon = isError ? formatted`\n\n$(error) ` : formatted`\n\n$(check) `;
      stream.markdown(markdownString(icon, true));
      if (page) stream.anchor(page, inert`${tool}`);
      else stream.markdown(code(tool));
      if (isError) {
        const first = parts.find((part) => part.kind === 'text');
        const why =
          first?.kind === 'text'
            ? shortLine(redact(first.text)).replace(/^Error: /, '')
            : 'no reason given';
        stream.markdown(formatted` – ${why}`);
      }
      stream.markdown(formatted`\n\n`);
      for (const file of left) {
        known.set(file.path, file);
        if (file.isImage) showImage(stream, file.path, `Image of ${tool}`);
        const uri = artifacts.uriOf(file.path, tool);
        stream.anchor(uri, inert`${tool}`);
        stream.reference(uri);
        stream.markdown(formatted`\n\n`);
      }
      if (app !== undefined) apps.set(tool, app);
    },
    shortened: ({ shortened, dropped }) => {
      const what = present([
        shortened > 0 &&
          `${shortened} older tool ${shortened === 1 ? 'result' : 'results'} shortened`,
        dropped > 0 && `${dropped} older ${dropped === 1 ? 'message' : 'messages'} left out`,
      ]);
      stream.markdown(formatted`\n\n*To fit the context of the model: ${what.join(', ')}.*\n\n`);
    },
  };
}

/** The most pictures of `/files`. Other images are links. */
const mostImages = 12;

function showImage(stream: InertStream, path: string, title: string): void {
  const uri = vscode.Uri.file(path);
  // The editor joins only Markdown with the same base, and the adjacent Markdown has no base.
  const image = markdownString(formatted`![${title}](${linkTarget(uri.toString())})`);
  image.baseUri = uri;
  stream.markdown(formatted`\n\n`);
  stream.markdown(image);
  stream.markdown(formatted`\n\n`);
}

function showPieces(
  stream: InertStream,
  links: ArtifactLinks,
  pieces: readonly AnswerPiece[],
): void {
  for (const piece of pieces) {
    if (piece.kind === 'text') stream.markdown(asMarkdown(piece.text));
    else if (piece.shown && piece.file.isImage) showImage(stream, piece.file.path, piece.label);
    else {
      const { path } = piece.file;
      const name = piece.label === '' ? toolOf(path) : piece.label;
      stream.anchor(links.uriOf(path, name), inert`${name}`);
    }
  }
}

export function showFiles(
  stream: InertStream,
  links: ArtifactLinks,
  files: readonly ResultFile[],
): void {
  if (files.length === 0)
    return stream.markdown(formatted`No files of this conversation are kept.`);
  const count = files.length === 1 ? '1 file' : `${files.length} files, latest first`;
  stream.markdown(formatted`This conversation has ${count}:\n\n`);
  let images = 0;
  for (const { path, isImage } of files.toReversed()) {
    const tool = toolOf(path);
    if (isImage && ++images <= mostImages) showImage(stream, path, `Image of ${tool}`);
    stream.anchor(links.uriOf(path, tool), inert`${tool}`);
    stream.markdown(formatted`\n\n`);
  }
}

function pathOf(target: string): string {
  try {
    return /^file:/i.test(target) ? vscode.Uri.parse(target).fsPath : decodeURIComponent(target);
  } catch {
    return target;
  }
}
