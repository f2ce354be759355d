/** *Create Config File* and *Open Config File*. Loaded on demand. */
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inert } from '../../core/base/inert.js';
import { writeInside } from '../../core/files/realFiles.js';
import { configPath, localFolders } from '../engine/configFiles.js';
import { choose, tell } from '../views/inertEditor.js';
import { whyNothingRuns } from '../views/phrases.js';
import { openDocument } from '../views/review/documents.js';

export async function createConfig(): Promise<void> {
  const folder = await chooseFolder();
  if (!folder) return;
  const uri = configUri(folder);
  if (!existsSync(uri.fsPath)) writeInside(folder.uri.fsPath, uri.fsPath, { before: '', after: exampleConfig });
  // The next document would replace a preview.
  await vscode.window.showTextDocument(await openDocument(uri), { preview: false });
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
    truely-stateless: true
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
