/**
 * Arguments as JSON documents with a schema (E3b). They are never on a disk, and a person closes
 * them without a question.
 */
import { said } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { isObject, type Fields } from '../../core/base/isObject.js';
import { boundedSchema } from '../../core/tools/localReferences.js';
import { roundingError } from '../../core/base/exactNumbers.js';

const scheme = 'mcp-toolsets-arguments';

type File = {
  readonly ctime: number;
  readonly mtime: number;
  readonly bytes: Uint8Array;
};

export class ArgumentDocuments implements vscode.Disposable {
  private readonly files = new Map<string, File>();
  private folders = 0;
  private readonly changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly registration: vscode.Disposable;

  constructor() {
    const provider: vscode.FileSystemProvider = {
      onDidChangeFile: this.changes.event,
      watch: () => ({ dispose: () => {} }),
      stat: (uri) => {
        const { ctime, mtime, bytes } = this.file(uri);
        return {
          type: vscode.FileType.File,
          ctime,
          mtime,
          size: bytes.length,
        };
      },
      readFile: (uri) => this.file(uri).bytes,
      writeFile: (uri, bytes) => this.write(uri, bytes),
      readDirectory: () => [],
      createDirectory: () => {},
      delete: () => {},
      rename: () => {},
    };
    this.registration = vscode.workspace.registerFileSystemProvider(scheme, provider, {
      isCaseSensitive: true,
    });
  }

  newUri(tool: string): vscode.Uri {
    this.folders += 1;
    return vscode.Uri.from({ scheme, path: `/${this.folders}/${tool}.json` });
  }

  /** Writes a missing document. An edited document stays. */
  prepare(uri: vscode.Uri, schema: unknown, given: Fields): void {
    // Names of tools have no dot (N4), so no tool's document has this name.
    const schemaUri = uri.with({
      path: `${uri.path.slice(0, uri.path.lastIndexOf('/'))}/arguments.schema.json`,
    });
    this.write(schemaUri, encode(withSchemaKey(schema)));
    // An argument of this name would choose another schema, which the editor would fetch.
    const own = { $schema: './arguments.schema.json' };
    if (!this.files.has(uri.path))
      this.write(
        uri,
        encode({
          ...own,
          ...given,
          ...own,
        }),
      );
  }

  restore(uri: vscode.Uri, text: string): void {
    this.write(uri, new TextEncoder().encode(text));
  }

  /**
   * Resolves to the arguments in the document, saved or not. Rejects with the error as a phrase.
   */
  async read(uri: vscode.Uri): Promise<Record<string, unknown>> {
    const document = await vscode.workspace.openTextDocument(uri);
    const text = document.getText();
    const parsed = JSON.parse(text) as unknown;
    if (!isObject(parsed)) throw new Error(said`the arguments have to be an object`);
    const rounded = roundingError(text);
    if (rounded !== undefined) throw new Error(rounded);
    const given: Record<string, unknown> = { ...parsed };
    delete given['$schema'];
    return given;
  }

  /** Closes tabs of an earlier window without a document, because they show an error. */
  async closeLost(): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const isLost = ({ input, isDirty }: vscode.Tab): boolean =>
      input instanceof vscode.TabInputText &&
      input.uri.scheme === scheme &&
      !isDirty &&
      !this.files.has(input.uri.path);
    await vscode.window.tabGroups.close(tabs.filter(isLost), true);
  }

  forget(uri: vscode.Uri): void {
    const folder = uri.path.slice(0, uri.path.lastIndexOf('/') + 1);
    for (const path of this.files.keys()) if (path.startsWith(folder)) this.files.delete(path);
  }

  dispose(): void {
    this.files.clear();
    this.registration.dispose();
  }

  private file(uri: vscode.Uri): File {
    const file = this.files.get(uri.path);
    if (!file) throw vscode.FileSystemError.FileNotFound(uri);
    return file;
  }

  private write(uri: vscode.Uri, bytes: Uint8Array): void {
    const existing = this.files.get(uri.path);
    this.files.set(uri.path, {
      ctime: existing?.ctime ?? Date.now(),
      mtime: Date.now(),
      bytes,
    });
    this.changes.fire([
      { type: existing ? vscode.FileChangeType.Changed : vscode.FileChangeType.Created, uri },
    ]);
  }
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value, undefined, 2)}\n`);
}

/**
 * Allows the key `$schema`, which a closed schema would refuse, and removes references that the
 * editor would fetch.
 */
function withSchemaKey(given: unknown): unknown {
  const schema = boundedSchema(given);
  if (!isObject(schema)) return schema;
  const { properties } = schema;
  return {
    ...schema,
    properties: { ...(isObject(properties) && properties), $schema: { type: 'string' } },
  };
}
