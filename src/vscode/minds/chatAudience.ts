/**
 * Shows a turn in the chat: the streamed answer with its files (V2), a line for each call, and
 * errors.
 */
import { plural, said } from '../../core/base/language.js';
import { commaList } from '../../core/base/text.js';
import * as vscode from 'vscode';
import { asMarkdown, code, inert, formatted, linkTarget } from '../../core/base/inert.js';
import type { Audience } from '../../core/minds/conversation.js';
import { AnswerLinks, type AnswerPiece } from '../../core/minds/answerLinks.js';
import type { ResultFile, ToolResult } from '../../core/minds/model.js';
import { mostRetries } from '../../core/minds/modelFailures.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { CallPages } from '../views/calls/callsView.js';
import { markdownString, type InertStream } from '../views/inertEditor.js';
import { present, shortLine } from '../views/phrases.js';
import { toolOf, type ArtifactLinks } from './artifactLinks.js';

interface ChatAudienceDeps {
  readonly stream: InertStream;
  readonly slot: EngineSlot;
  readonly pages: CallPages;
  readonly artifacts: ArtifactLinks;
  /** The files of earlier turns, to which an answer may link. */
  readonly files: readonly ResultFile[];
}

/** Call `end` once, at the end of the turn. */
export function chatAudience(deps: ChatAudienceDeps): Audience & { end(): void } {
  const { stream, slot, artifacts } = deps;
  const short = (text: string): string => shortLine(slot.redact(text));
  const files = new Map(deps.files.map((file) => [file.path, file]));
  const links = new AnswerLinks((target) => files.get(target) ?? files.get(pathOf(target)));
  const show = (pieces: readonly AnswerPiece[]): void =>
    pieces.forEach((piece) => showPiece(stream, artifacts, piece));
  /** The last line of progress of each call. */
  const lines = new Map<string, string>();
  /**
   * The last app of each tool. The chat folds everything before the answer, so buttons follow it.
   */
  const apps = new Map<string, string>();
  return {
    end: () => {
      show(links.end());
      for (const [tool, app] of apps) {
        const title = inert`Open App of ${tool}`;
        stream.button({
          command: 'mcpToolsets.openApp',
          title,
          arguments: [app],
        });
      }
    },
    text: (text) => show(links.push(text)),
    retrying: ({ attempt, delayMs, cause }, brokeOff) => {
      show(links.end());
      const seconds = Math.max(1, Math.round(delayMs / 1000));
      const again = said`Attempt ${attempt} of ${mostRetries} follows in ${seconds} s.`;
      if (brokeOff) stream.write`\n\n*The answer broke off here and begins again.*\n\n`;
      stream.progress(formatted`The model's provider did not answer: ${short(cause)}. ${again}`);
    },
    calling: (calls) => {
      show(links.end());
      stream.write`\n\n`;
      stream.progress(
        formatted`Calling ${commaList(
          calls.map(({ tool }) => tool),
          said,
        )} …`,
      );
    },
    progress: ({ id, tool }, { progress, total = 0, message }) => {
      const part = total > 0 ? ` (${Math.round((progress / total) * 100)} %)` : '';
      const line = `${tool}: ${message === undefined ? said`working` : short(message)}${part}`;
      if (lines.get(id) === line) return;
      lines.set(id, line);
      stream.progress(formatted`${line}`);
    },
    finished: (_, result) => {
      showCall(deps, result);
      for (const file of result.files ?? []) {
        files.set(file.path, file);
        showResultFile(stream, artifacts, result.tool, file);
      }
      if (result.app !== undefined) apps.set(result.tool, result.app);
    },
    shortened: ({ shortened, dropped }) => {
      const what = present([
        shortened > 0 &&
          plural(shortened, '1 older tool result shortened', '{0} older tool results shortened'),
        dropped > 0 && plural(dropped, '1 older message left out', '{0} older messages left out'),
      ]);
      stream.write`\n\n*To fit the context of the model: ${commaList(what, said)}.*\n\n`;
    },
  };
}

/** Shows the end of a call. Its tool leads to the page of the call. A failure has its reason. */
function showCall({ stream, slot, pages }: ChatAudienceDeps, result: ToolResult): void {
  const { tool, isError, parts, record } = result;
  const icon = isError ? formatted`\n\n$(error) ` : formatted`\n\n$(check) `;
  stream.markdown(markdownString(icon, true));
  const fact = record === undefined ? undefined : slot.engine?.recorder.latestFact(record);
  if (fact) stream.anchor(pages.of(fact), inert`${tool}`);
  else stream.markdown(code(tool));
  if (isError) {
    const text = parts.find((part) => part.kind === 'text')?.text;
    const reason = text && shortLine(slot.redact(text)).replace(/^Error: /, '');
    stream.write` – ${reason ?? said`no reason given`}`;
  }
  stream.write`\n\n`;
}

/** The most pictures of `/files`. Other images are links. */
const mostImages = 12;

function showResultFile(
  stream: InertStream,
  links: ArtifactLinks,
  tool: string,
  { path, isImage }: ResultFile,
): void {
  if (isImage) showImage(stream, path, said`Image of ${tool}`);
  const uri = links.uriOf(path, tool);
  stream.anchor(uri, inert`${tool}`);
  stream.reference(uri);
  stream.write`\n\n`;
}

function showImage(stream: InertStream, path: string, title: string): void {
  const uri = vscode.Uri.file(path);
  // The editor joins only Markdown with the same base, and the adjacent Markdown has no base.
  const image = markdownString(formatted`![${title}](${linkTarget(uri.toString())})`);
  image.baseUri = uri;
  stream.write`\n\n`;
  stream.markdown(image);
  stream.write`\n\n`;
}

function showPiece(stream: InertStream, links: ArtifactLinks, piece: AnswerPiece): void {
  if (piece.kind === 'text') return stream.markdown(asMarkdown(piece.text));
  const { file, label, shown } = piece;
  if (shown && file.isImage) return showImage(stream, file.path, label);
  const name = label === '' ? toolOf(file.path) : label;
  stream.anchor(links.uriOf(file.path, name), inert`${name}`);
}

export function showFiles(
  stream: InertStream,
  links: ArtifactLinks,
  files: readonly ResultFile[],
): void {
  if (files.length === 0) return stream.write`No files of this conversation are kept.`;
  const count = plural(files.length, '1 file', '{0} files, latest first');
  stream.write`This conversation has ${count}:\n\n`;
  let images = 0;
  for (const { path, isImage } of files.toReversed()) {
    const tool = toolOf(path);
    if (isImage && ++images <= mostImages) showImage(stream, path, said`Image of ${tool}`);
    stream.anchor(links.uriOf(path, tool), inert`${tool}`);
    stream.write`\n\n`;
  }
}

function pathOf(target: string): string {
  try {
    return /^file:/i.test(target) ? vscode.Uri.parse(target).fsPath : decodeURIComponent(target);
  } catch {
    return target;
  }
}
