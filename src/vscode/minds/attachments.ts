/** Appends the attachments of a question (files, selections, tools) as text, and names unreadable ones. */
import * as vscode from 'vscode';
import type { Toolset } from '../../core/tools/catalogue.js';
import { openDocument } from '../views/review/documents.js';

const longestAttachment = 60_000;

/** The editor adds these to every question. They are about the tools of its own agent. */
const ofTheEditor = /^vscode\.customizations\b/;

/** @param words the prompt without a command */
export async function questionOf(
  words: string,
  { references, toolReferences }: vscode.ChatRequest,
  toolsets: readonly Toolset[],
): Promise<string> {
  const attached = await Promise.all(references.filter(({ id }) => !ofTheEditor.test(id)).map(textOf));
  const tools = toolsets.flatMap((toolset) => toolset.tools);
  const named = toolReferences.flatMap(({ name }) => {
    const tool = tools.find(({ editorId, published }) => editorId === name || published === name);
    return tool ? [tool.published] : [];
  });
  const hint = named.length > 0 ? [`Use these tools: ${named.join(', ')}.`] : [];
  return [words, ...hint, ...attached.filter((text) => text !== '')].join('\n\n');
}

async function textOf({ value, modelDescription }: vscode.ChatPromptReference): Promise<string> {
  const about = modelDescription === undefined ? '' : ` (${modelDescription})`;
  if (typeof value === 'string') return `Attached${about}:\n${short(value)}`;
  const location =
    value instanceof vscode.Location
      ? value
      : value instanceof vscode.Uri
        ? { uri: value, range: undefined }
        : undefined;
  if (!location) return about === '' ? '' : `Attached${about}, in a form that cannot be read here.`;
  const { uri, range } = location;
  const lines = range ? `, lines ${range.start.line + 1} to ${range.end.line + 1}` : '';
  const name = `${vscode.workspace.asRelativePath(uri)}${lines}`;
  try {
    const document = await openDocument(uri);
    return `Attached${about}: ${name}\n\`\`\`\n${short(document.getText(range))}\n\`\`\``;
  } catch {
    return `Attached${about}: ${name}, which cannot be read as text.`;
  }
}

function short(text: string): string {
  if (text.length <= longestAttachment) return text;
  return `${text.slice(0, longestAttachment)}\n… (${text.length} characters in all)`;
}
