/** Shows a turn in the chat: the streamed answer, a line for each call, and errors. */
import type * as vscode from 'vscode';
import { code, inert, formatted } from '../../core/base/inert.js';
import type { Audience } from '../../core/minds/conversation.js';
import { AnswerLinks } from '../../core/minds/answerLinks.js';
import type { ResultFile, ToolCall, ToolResult } from '../../core/minds/model.js';
import { mostRetries } from '../../core/minds/modelFailures.js';
import { markdownString, type InertStream } from '../views/inertEditor.js';
import { present, shortLine } from '../views/phrases.js';
import type { ArtifactLinks } from './artifactLinks.js';
import { pathOf, showImage, showPieces } from './savedFiles.js';

interface ChatAudienceDeps {
  readonly stream: InertStream;
  /** Returns the page of a recorded call, if it is kept. */
  readonly pageOf: (record: string) => vscode.Uri | undefined;
  readonly artifacts: ArtifactLinks;
  /** The files of earlier turns, to which an answer may link. */
  readonly files: readonly ResultFile[];
  readonly redact: (text: string) => string;
}

interface ChatAudience extends Audience {
  /** Call it once, at the end. */
  end(): void;
}

export function chatAudience({ stream, pageOf, artifacts, files, redact }: ChatAudienceDeps): ChatAudience {
  const known = new Map(files.map((file) => [file.path, file]));
  const links = new AnswerLinks((target) => known.get(target) ?? known.get(pathOf(target)));
  const showFilesOf = ({ tool, files: left }: ToolResult): void => {
    for (const { path, isImage } of left ?? []) {
      if (isImage) showImage(stream, path, `Image of ${tool}`);
      const uri = artifacts.uriOf(path, tool);
      stream.anchor(uri, inert`${tool}`);
      stream.reference(uri);
      stream.markdown(formatted`\n\n`);
    }
  };
  const endText = (): void => showPieces(stream, artifacts, links.end());
  const shownLines = new Map<string, string>();
  /** The last app of each tool. The chat folds everything before the answer, so buttons follow it. */
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
      if (brokeOff) stream.markdown(formatted`\n\n*The answer broke off here and begins again.*\n\n`);
      stream.progress(formatted`The model's provider did not answer: ${shortLine(redact(cause))}. ${again}`);
    },
    calling: (calls) => {
      endText();
      stream.markdown(formatted`\n\n`);
      stream.progress(formatted`Calling ${calls.map(({ tool }) => tool).join(', ')} …`);
    },
    progress: ({ id, tool }, { progress, total, message }) => {
      const part = total !== undefined && total > 0 ? ` (${Math.round((progress / total) * 100)} %)` : '';
      const line = `${tool}: ${message === undefined ? 'working' : shortLine(redact(message))}${part}`;
      if (shownLines.get(id) === line) return;
      shownLines.set(id, line);
      stream.progress(formatted`${line}`);
    },
    finished: (call, result) => {
      for (const file of result.files ?? []) known.set(file.path, file);
      showCall(stream, call, result, result.record === undefined ? undefined : pageOf(result.record), redact);
      showFilesOf(result);
      if (result.app !== undefined) apps.set(call.tool, result.app);
    },
    shortened: ({ shortened, dropped }) => {
      const what = present([
        shortened > 0 && `${shortened} older tool ${shortened === 1 ? 'result' : 'results'} shortened`,
        dropped > 0 && `${dropped} older ${dropped === 1 ? 'message' : 'messages'} left out`,
      ]);
      stream.markdown(formatted`\n\n*To fit the context of the model: ${what.join(', ')}.*\n\n`);
    },
  };
}

function showCall(
  stream: InertStream,
  { tool }: ToolCall,
  { isError, parts }: ToolResult,
  page: vscode.Uri | undefined,
  redact: (text: string) => string,
): void {
  const icon = isError ? formatted`\n\n$(error) ` : formatted`\n\n$(check) `;
  stream.markdown(markdownString(icon, { icons: true }));
  if (page) stream.anchor(page, inert`${tool}`);
  else stream.markdown(code(tool));
  if (isError) {
    const first = parts.find((part) => part.kind === 'text');
    const why = first?.kind === 'text' ? shortLine(redact(first.text)).replace(/^Error: /, '') : 'no reason given';
    stream.markdown(formatted` – ${why}`);
  }
  stream.markdown(formatted`\n\n`);
}
