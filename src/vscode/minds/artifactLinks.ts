/**
 * Makes links to result files (V2). The chat shows the end of a path, so it is a short name. They
 * open after a reload too.
 */
import * as vscode from 'vscode';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { toDisposable } from '../../core/base/disposables.js';
import { Icon, inert } from '../../core/base/inert.js';
import { artifactsRoot, timeOfArtifact } from '../../core/results/diskArtifacts.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { choose, commands, tell } from '../views/inertEditor.js';
import { timeOf } from '../views/phrases.js';
import { nodeOf, type Subject } from '../views/rows/subject.js';
import { artifactPath, linkName } from './artifactNames.js';

const scheme = 'mcp-toolsets-file';

export class ArtifactLinks implements vscode.Disposable {
  private readonly root: string | undefined;
  private readonly registration: vscode.Disposable;

  constructor(storage: string | undefined) {
    this.root = storage === undefined ? undefined : artifactsRoot(storage);
    const refuse = (uri: vscode.Uri): never => {
      throw vscode.FileSystemError.NoPermissions(uri);
    };
    const provider: vscode.FileSystemProvider = {
      onDidChangeFile: () => toDisposable(() => {}),
      watch: () => toDisposable(() => {}),
      stat: async (uri) => {
        const { ctimeMs, mtimeMs, size } = await this.found(uri, (file) => stat(file));
        return {
          type: vscode.FileType.File,
          ctime: ctimeMs,
          mtime: mtimeMs,
          size,
        };
      },
      readFile: (uri) => this.found(uri, (file) => readFile(file)),
      readDirectory: refuse,
      createDirectory: refuse,
      writeFile: refuse,
      delete: refuse,
      rename: refuse,
    };
    this.registration = vscode.workspace.registerFileSystemProvider(scheme, provider, {
      isReadonly: true,
    });
  }

  /** @param name the name in the chat, without the extension */
  uriOf(file: string, name: string): vscode.Uri {
    const parts = this.root === undefined ? [] : relative(this.root, file).split(sep);
    if (parts.length !== 3 || parts[0] === '..') return vscode.Uri.file(file);
    return vscode.Uri.from({
      scheme,
      path: `/${parts.join('/')}/${linkName(name, extname(file))}`,
    });
  }

  dispose(): void {
    this.registration.dispose();
  }

  /** The quota may have removed the file. */
  private async found<Result>(
    uri: vscode.Uri,
    use: (file: string) => Promise<Result>,
  ): Promise<Result> {
    const parts = artifactPath(uri.path);
    const missing = vscode.FileSystemError.FileNotFound(uri);
    if (this.root === undefined || !parts) throw missing;
    return await use(join(this.root, ...parts)).catch(() => Promise.reject(missing));
  }
}

export function registerShownFiles(slot: EngineSlot, artifacts: ArtifactLinks): vscode.Disposable {
  const showConversationFiles = async (subject: Subject): Promise<void> => {
    const conversation = nodeOf(subject)?.conversation;
    const files =
      conversation === undefined
        ? []
        : ((await slot.engine?.conversationTools.files(conversation)) ?? []);
    if (files.length === 0) return tell(inert`No files of this conversation are kept.`);
    const options = { placeHolder: inert`Choose a file of this conversation (latest first)` };
    const chosen = await choose(files.toReversed(), options, ({ path, isImage }) => ({
      label: inert`${new Icon(isImage ? 'file-media' : 'file')} ${toolOf(path)}${extname(path)}`,
      description: inert`${timeOf(timeOfArtifact(basename(path)), Date.now())}`,
    }));
    if (!chosen) return;
    await vscode.commands.executeCommand(
      'vscode.open',
      artifacts.uriOf(chosen.path, toolOf(chosen.path)),
    );
  };
  return commands({ showConversationFiles });
}

export function toolOf(path: string): string {
  return basename(dirname(path));
}
