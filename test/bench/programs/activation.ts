/** Loads and activates the built extension in a fresh process, with a fake editor. */
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { serve } from '../harness/served.js';

type Extension = { activate(context: unknown): void };
type Loader = { _load(request: string, ...rest: unknown[]): unknown };

/** Every property exists, can be called, constructed and disposed of, and is empty. */
const anything: unknown = new Proxy(function () {}, {
  get: (_, key) => {
    if (key === 'then') return undefined;
    if (key === Symbol.iterator) return () => [][Symbol.iterator]();
    if (key === Symbol.toPrimitive) return () => '';
    return anything;
  },
  set: () => true,
  apply: () => anything,
  construct: () => anything as object,
});

function space(own: Readonly<Record<string, unknown>>): unknown {
  return new Proxy(own, {
    get: (target, key) => (key in target ? target[key as string] : anything),
  });
}

function fileUri(path: string): unknown {
  return { scheme: 'file', fsPath: path, path, toString: () => `file://${path}` };
}

function editor(folder: string): unknown {
  const uri = fileUri(folder);
  // Used as the prototype, because a loader copies own properties and keeps the prototype.
  return Object.create(
    space({
      workspace: space({
        isTrusted: true,
        workspaceFolders: [{ uri, name: 'bench', index: 0 }],
        asRelativePath: (path: string) => path,
        getConfiguration: () => ({
          get: (_: string, otherwise: unknown) => otherwise,
          inspect: () => undefined,
        }),
      }),
      lm: space({ tools: [] }),
    }) as object,
  );
}

/** The file, and all that it loads, now or later. */
function filesOf(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/require\("(\.[^"]+\.js)"\)/g)) {
    filesOf(join(dirname(file), name), found);
  }
  return found;
}

serve({
  /** Milliseconds for a file of any content. */
  loadAlone({ file }: { file: string }) {
    const load = createRequire(__filename);
    const begun = performance.now();
    load(file);
    return performance.now() - begun;
  },

  /**
   * Milliseconds. `eager`: with every part of the product loaded first, like a bundle in one file.
   */
  measure({ dist, folder, eager }: { dist: string; folder: string; eager: boolean }) {
    const stub = editor(folder);
    const loader = Module as unknown as Loader;
    const usual = loader._load;
    loader._load = (request, ...rest) =>
      request === 'vscode' ? stub : usual.call(loader, request, ...rest);
    const load = createRequire(__filename);
    const state = { get: () => undefined, keys: () => [], update: () => Promise.resolve() };
    const context = space({
      subscriptions: [],
      workspaceState: state,
      globalState: state,
      extensionPath: join(dist, '..'),
      extensionUri: anything,
      storageUri: fileUri(join(folder, 'storage')),
      globalStorageUri: fileUri(join(folder, 'globalStorage')),
      extension: { id: 'minds.mcp-toolsets', packageJSON: { version: '0.0.0' } },
    });
    const begun = performance.now();
    if (eager) for (const file of filesOf(join(dist, 'extension.js'))) load(file);
    const extension = load(join(dist, 'extension.js')) as Extension;
    const loaded = performance.now();
    extension.activate(context);
    const activated = performance.now();
    return { load: loaded - begun, activate: activated - loaded };
  },

  end() {
    // Before it has read the config file and starts its servers.
    process.exit(0);
  },
});
