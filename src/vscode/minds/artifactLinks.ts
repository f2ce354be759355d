/**
 * Makes links to files that calls left on disk (V2), under names that fit into a line. The chat shows the end of a link's path,
 * and the names of artifacts are long. `mcp-toolsets-file:/<server>/<tool>/<file>/<name>` is `<file>`, which can only be read.
 *
 * Invariants: nothing outside the folder of artifacts is read. A link needs no memory, so that it still opens after a reload.
 */
import * as vscode from 'vscode';
import { readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { toDisposable, type Disposable } from '../../core/base/disposables.js';
import { artifactsRoot } from '../../core/results/artifactName.js';
import { artifactPath, linkName } from './artifactNames.js';

const scheme = 'mcp-toolsets-file';

export class ArtifactLinks implements Disposable {
  private readonly root: string | undefined;
  private readonly registration: vscode.Disposable;

  /** @param storage The storage folder of the workspace; undefined if no folder is open. */
  constructor(storage: string | undefined) {
    this.root = storage === undefined ? undefined : artifactsRoot(storage);
    this.registration = vscode.workspace.registerFileSystemProvider(scheme, this.provider(), { isReadonly: true });
  }

  /** @param name What the chat shows. The extension of the file is added. */
  uriOf(file: string, name: string): vscode.Uri {
    const parts = this.root === undefined ? [] : relative(this.root, file).split(sep);
    if (parts.length !== 3 || parts[0] === '..') return vscode.Uri.file(file);
    return vscode.Uri.from({ scheme, path: `/${parts.join('/')}/${linkName(name, extname(file))}` });
  }

  dispose(): void {
    this.registration.dispose();
  }

  private provider(): vscode.FileSystemProvider {
    const refuse = (uri: vscode.Uri): never => {
      throw vscode.FileSystemError.NoPermissions(uri);
    };
    return {
      onDidChangeFile: () => toDisposable(() => {}),
      watch: () => toDisposable(() => {}),
      stat: async (uri) => {
        const { ctimeMs, mtimeMs, size } = await this.found(uri, (file) => stat(file));
        return { type: vscode.FileType.File, ctime: ctimeMs, mtime: mtimeMs, size };
      },
      readFile: (uri) => this.found(uri, (file) => readFile(file)),
      readDirectory: refuse,
      createDirectory: refuse,
      writeFile: refuse,
      delete: refuse,
      rename: refuse,
    };
  }

  /** Uses a file, which the quota may have removed in the meantime. */
  private async found<Result>(uri: vscode.Uri, use: (file: string) => Promise<Result>): Promise<Result> {
    const parts = artifactPath(uri.path);
    if (this.root === undefined || !parts) throw vscode.FileSystemError.FileNotFound(uri);
    try {
      return await use(join(this.root, ...parts));
    } catch {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
  }
}
