/** Shows result files in the chat (V2): links, and images as parts that the editor cannot join with other Markdown. */
import * as vscode from 'vscode';
import { asMarkdown, inert, linkTarget, formatted } from '../../core/base/inert.js';
import type { AnswerPiece } from '../../core/minds/answerLinks.js';
import type { ResultFile } from '../../core/minds/model.js';
import { markdownString, type InertStream } from '../views/inertEditor.js';
import { toolOf, type ArtifactLinks } from './artifactLinks.js';

/** The most pictures of `/files`. Other images are links. */
const mostImages = 12;

export function showImage(stream: InertStream, path: string, title: string): void {
  const uri = vscode.Uri.file(path);
  // The editor joins only Markdown with the same base, and the adjacent Markdown has no base.
  const image = markdownString(formatted`![${title}](${linkTarget(uri.toString())})`, { baseUri: uri });
  stream.markdown(formatted`\n\n`);
  stream.markdown(image);
  stream.markdown(formatted`\n\n`);
}

export function showPieces(stream: InertStream, links: ArtifactLinks, pieces: readonly AnswerPiece[]): void {
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

/** Answers `/files`. */
export function showFiles(stream: InertStream, links: ArtifactLinks, files: readonly ResultFile[]): void {
  if (files.length === 0) return stream.markdown(formatted`No files of this conversation are kept.`);
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

/** Returns the path of a link as a model writes it. */
export function pathOf(target: string): string {
  try {
    return /^file:/i.test(target) ? vscode.Uri.parse(target).fsPath : decodeURIComponent(target);
  } catch {
    return target;
  }
}
