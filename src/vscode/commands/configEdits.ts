/**
 * Creates and opens config files, and edits them and files of other agents after a person has
 * agreed. Loaded on demand.
 */
import { english } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { homedir } from '../../core/base/home.js';
import { Icon, inert, type Inert } from '../../core/base/inert.js';
import { userFile } from '../../core/config/sources.js';
import { keepOutOfGit, localFileOf } from '../../core/files/localFile.js';
import { writeInside } from '../../core/files/realFiles.js';
import { configPath, localFolders } from '../engine/configFiles.js';
import { choose, tell, window, type InertItem } from '../views/inertEditor.js';
import { offsetOfServer } from '../../core/config/edit/addServers.js';
import { editFile, type FileChange } from '../authoring/fileEdits.js';
import { applyEdits, type TextEdit } from '../../core/yaml/edits.js';
import { whyNothingRuns } from '../views/phrases.js';
import { openDocument, openToEdit } from '../views/review/documents.js';
import { ReadOnlyDocuments } from '../views/review/readOnlyDocuments.js';
import { answerBeside } from '../views/review/reviewQuestion.js';
import { fileLabel } from '../views/places.js';

export interface Target extends InertItem {
  readonly file: string;
  /** The folder that nothing written may leave. */
  readonly root: string;
  /** The base folder of relative paths in the file. */
  readonly folder: string;
}

export function targets(): Target[] {
  const folders = localFolders().map(({ name, uri: { fsPath: root } }) => ({
    label: inert`${new Icon('folder')} ${name}`,
    description: inert`${configPath}`,
    detail: inert`For everyone who works in this folder`,
    file: join(root, configPath),
    root,
    folder: root,
  }));
  const home = homedir();
  const own = {
    label: inert`${new Icon('account')} You`,
    description: inert`~/${configPath}`,
    detail: inert`For you, in every window`,
    file: userFile(home),
    root: home,
    folder: localFolders()[0]?.uri.fsPath ?? home,
  };
  return [...folders, own];
}

export async function textOf(file: string): Promise<string | undefined> {
  if (!existsSync(file)) return undefined;
  return (await openToEdit(file)).getText();
}

/** Shows the server `id` afterwards. Rejects with what a person can do. */
export async function writeServers(
  { file, root }: Target,
  editsOf: FileChange['editsOf'],
  id: string | undefined,
): Promise<void> {
  const name = fileLabel(file);
  const { editor, isSaved } = await writeEdits({ file, root, name, editsOf });
  const { document } = editor;
  const offset = id === undefined ? undefined : offsetOfServer(document.getText(), id);
  if (offset !== undefined) {
    const at = document.positionAt(offset);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(
      new vscode.Range(at, at),
      vscode.TextEditorRevealType.InCenterIfOutsideViewport,
    );
  }
  if (!isSaved) {
    tell(inert`${name} has other unsaved changes. Save it to start the servers.`);
  }
}

export async function writeEdits(change: FileChange) {
  const { document, isSaved } = await editFile(change);
  return { editor: await vscode.window.showTextDocument(document, { preview: false }), isSaved };
}

interface ProposedChange<Plan> {
  readonly file: string;
  readonly name: string;
  /** Must be unique among documents. */
  readonly scheme: string;
  /** Rejects with a sentence for a person if the change is impossible. */
  readonly plan: () => Promise<Plan>;
  /** The title of the difference. @param name the name of the file */
  readonly title: (name: string) => string;
  readonly report?: (plan: Plan) => readonly [name: string, text: string];
  /**
   * Told beside the preview of a plan without edits. By default, such a plan needs no agreement.
   */
  readonly nothing?: Inert;
  readonly question: (plan: Plan) => Inert;
  readonly yes: 'Import' | 'Write' | 'Remove';
}

/**
 * Shows a change as a difference with a report, and asks whether to write it. Resolves to the
 * agreed plan, whose edits throw if the file changes.
 */
export async function agreedChange<
  Plan extends { readonly edits: readonly TextEdit[]; readonly after: string },
>(change: ProposedChange<Plan>): Promise<(Plan & Pick<FileChange, 'editsOf'>) | undefined> {
  const { file, name, nothing, title, report, yes } = change;
  const documents = new ReadOnlyDocuments({ scheme: change.scheme });
  try {
    for (let shown: string | undefined; ;) {
      const plan = await change.plan();
      const { edits, after } = plan;
      const isEmpty = edits.length === 0;
      // If the files changed during the question, the person sees the new difference first.
      if (shown === after || (isEmpty && !nothing)) {
        await documents.closeTabs();
        return {
          ...plan,
          editsOf: (text = '') => {
            if (applyEdits(text, edits) === after) return edits;
            throw new Error(
              english`${name} changed after you saw the preview, so nothing was written. Try again.`,
            );
          },
        };
      }
      shown = after;
      const before = (await textOf(file)) ?? '';
      const uris = [
        await documents.compare([basename(file), before], [basename(file), after], title(name)),
      ];
      if (report) {
        const page = documents.add(...report(plan));
        const beside = {
          viewColumn: vscode.ViewColumn.Beside,
          preserveFocus: true,
          preview: false,
        };
        await vscode.window.showTextDocument(page, beside);
        uris.push(page);
      }
      if (isEmpty && nothing) return tell(nothing);
      const asked = window.showInformationMessage(change.question(plan), yes, 'Not Now');
      if ((await answerBeside(uris, asked, yes)) !== yes) return undefined;
    }
  } finally {
    documents.dispose();
  }
}

export function createConfig(): Promise<void> {
  return create((file) => file, exampleConfig);
}

export function openLocalConfig(): Promise<void> {
  return create(localFileOf, exampleLocal);
}

/** Opens a file of a folder, after it has made a missing one. */
async function create(fileBeside: (config: string) => string, after: string): Promise<void> {
  const folder = await chooseFolder();
  if (!folder) return;
  const file = fileBeside(configUri(folder).fsPath);
  if (!existsSync(file)) {
    keepOutOfGit(file);
    writeInside(folder.uri.fsPath, file, { before: '', after });
  }
  // The next document would replace a preview.
  await vscode.window.showTextDocument(await openToEdit(file), { preview: false });
}

export async function openConfig(): Promise<void> {
  const folders = localFolders();
  const withFile = folders.filter((folder) => existsSync(configUri(folder).fsPath));
  const folder = withFile.length > 1 ? await chooseFolder(withFile) : withFile[0];
  if (folder) await vscode.window.showTextDocument(await openDocument(configUri(folder)));
  else if (withFile.length === 0) await createConfig();
}

async function chooseFolder(folders = localFolders()): Promise<vscode.WorkspaceFolder | undefined> {
  if (folders.length === 0) return tell(inert`${whyNothingRuns('noFolder')}`);
  if (folders.length === 1) return folders[0];
  return choose(folders, { placeHolder: inert`Choose a folder` }, ({ name, uri }) => ({
    label: inert`${name}`,
    description: inert`${uri.fsPath}`,
  }));
}

function configUri(folder: vscode.WorkspaceFolder): vscode.Uri {
  return vscode.Uri.file(join(folder.uri.fsPath, configPath));
}

const exampleLocal = `# Your changes to the servers of ${configPath}, only on this machine.
version: 1

servers:
  # browser: { enabled: false }
`;

const exampleConfig = `# MCP servers of this folder, and which of their tools agents see. A change applies when you save.
# All keys: run "MCP Toolsets: Open Documentation…" in the Command Palette and choose "The config file".
version: 1

servers:
  # The name of the server is the name of its toolset: letters, digits, - and _.
  files:
    transport: stdio
    command: npx
    args: ['-y', '@modelcontextprotocol/server-filesystem', '.']
    # true: all conversations share one instance. Otherwise each conversation has its own instance.
    stateless: true
    tools:
      # Patterns for the server's own tool names; * matches any text.
      whitelist: ['read_*', 'list_*', 'search_files']
    transform:
      - prefix: 'files_'

  # A server at an HTTP address, with a secret from the environment of the editor:
  # search:
  #   transport: streamable_http
  #   url: https://example.com/mcp
  #   headers:
  #     Authorization: { prefix: 'Bearer ', env: SEARCH_TOKEN }
`;
