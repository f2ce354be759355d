/**
 * Starts a real VS Code and controls its windows. It is the server form in a headless Chromium.
 *
 * An editor has its own settings, state, home folder and extensions in a temporary folder. Its
 * windows share them, like the windows of one person. Closing an editor ends all its processes and
 * removes the folder, also after an interruption of the run.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { work } from '../core/within.ts';
import { bridgeVariable } from './bridgeProtocol.ts';
import { BridgeServer, type SuitesInTurn } from './bridgeServer.ts';
import { sharedBrowser } from './browser.ts';
import { onEnd, tempFolder } from './cleanup.ts';
import {
  installHelper,
  installProduct,
  linkOwnExtensions,
  type OwnExtensions,
} from './extensions.ts';
import { waitUntilGone, type ProcessEntry } from './processes.ts';
import { provisionServerForm, type ServerForm } from './provision.ts';
import { editorEnvironment, ServerProcess } from './serverProcess.ts';
import { userSettings } from './settings.ts';
import { resultsDir } from './versions.ts';
import { EditorWindow } from './window.ts';

export interface EditorOptions extends OwnExtensions {
  /** `false` opens folders in Restricted Mode. Default `true`. */
  trust?: boolean;
  /** User settings, over the defaults of `settings.ts`. */
  settings?: Record<string, unknown>;
  /**
   * Helper extensions: folders of `test/editor/helpers`, or absolute paths. `remote-control` is
   * always there.
   */
  helpers?: string[];
  /**
   * The source of the product: this checkout as an extension under development, an installed copy,
   * or none.
   */
  product?: 'development' | 'installed' | 'none';
  /** An extension folder to run under development instead of the product. */
  developmentPath?: string;
  /** Environment of the editor and of its children. */
  env?: NodeJS.ProcessEnv;
  /** Files for the editor's home folder, an empty temporary one: path → text. */
  homeFiles?: Record<string, string>;
  /** The same for the folder of its settings and state. */
  dataFiles?: Record<string, string>;
  /** The editor itself. Default: from `provision.ts`. */
  form?: ServerForm;
  /**
   * The language of the editor. Extensions speak it. The editor itself speaks English, because it
   * has no pack of the language.
   */
  language?: string;
  /** The folder for logs and screenshots. Default: `test-results/editor`. */
  outputDir?: string;
  /** The suites of its window, if it has tests. */
  suites?: SuitesInTurn;
}

export interface WindowOptions {
  /** A file with `run()`, executed in the extension host. Its end closes the window. */
  testsPath?: string;
}

/** Running editors. A suite must leave none. */
export const openEditors = new Set<Editor>();

export interface EditorFolders {
  dataDir: string;
  home: string;
  temp: string;
  extensionsDir: string;
  builtInExtensionsDir: string;
  outputDir: string;
  remove(): Promise<void>;
}

/** Makes the folders of an editor with settings and helper extensions. */
export function prepareFolders(options: EditorOptions): EditorFolders {
  const { path, remove } = tempFolder();
  const folders: EditorFolders = {
    dataDir: join(path, 'd'),
    home: join(path, 'home'),
    temp: join(path, 'tmp'),
    extensionsDir: join(path, 'ext'),
    builtInExtensionsDir: join(path, 'builtin'),
    outputDir: options.outputDir ?? join(resultsDir, 'editor'),
    remove,
  };
  const below = (folder: string, given: Record<string, string> = {}): [string, string][] =>
    Object.entries(given).map(([file, text]) => [join(folder, file), text]);
  const files = [
    ...below(folders.home, options.homeFiles),
    ...below(folders.dataDir, options.dataFiles),
  ];
  files.push([
    join(folders.dataDir, 'User/settings.json'),
    JSON.stringify(userSettings(options), undefined, 2),
  ]);
  for (const folder of [folders.home, folders.temp, folders.extensionsDir, folders.outputDir]) {
    mkdirSync(folder, { recursive: true });
  }
  for (const [file, text] of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const helpers = new Set([
    'remote-control',
    ...(options.agentMode ? ['scripted-model'] : []),
    ...(options.helpers ?? []),
  ]);
  for (const helper of helpers) installHelper(helper, folders.extensionsDir);
  if (options.product === 'installed') installProduct(folders.extensionsDir);
  return folders;
}

export function startEditor(options: EditorOptions): Promise<Editor> {
  return work('the start of an editor', () => start(options));
}

async function start(options: EditorOptions): Promise<Editor> {
  const form = options.form ?? (await provisionServerForm());
  const folders = prepareFolders(options);
  const { dataDir, home, temp, extensionsDir, outputDir } = folders;
  linkOwnExtensions(form.editorRoot, folders.builtInExtensionsDir, options);

  let editor: Editor | undefined;
  const bridge = new BridgeServer({
    desktop: false,
    suites: options.suites,
    page: (request) => {
      const window = editor?.windows.at(-1);
      if (!window) throw new Error('No window is open');
      return window.perform(request);
    },
    processes: () => server.foreignProcesses(),
  });
  const address = await bridge.listen();
  const closeBridge = onEnd(() => bridge.close());
  const server = await ServerProcess.start({
    form,
    dataDir,
    extensionsDir,
    builtInExtensionsDir: folders.builtInExtensionsDir,
    trust: options.trust ?? true,
    agentHost: options.allExtensions ?? false,
    env: editorEnvironment({
      home,
      temp,
      extra: { ...options.env, [bridgeVariable]: address },
    }),
    logFile: join(outputDir, 'server.log'),
  });
  const browser = await sharedBrowser(form.chromium);
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  await keepSecrets(context);
  await context.addInitScript((language) => {
    if (language !== undefined) Object.assign(globalThis, { _VSCODE_NLS_LANGUAGE: language });
  }, options.language);
  const opened = new Editor(
    { ...options, outputDir },
    dataDir,
    home,
    server,
    bridge,
    context,
    async () => {
      openEditors.delete(opened);
      await context.close().catch(() => undefined);
      await server.stop();
      await closeBridge();
      await folders.remove();
    },
  );
  openEditors.add(opened);
  return (editor = opened);
}

/**
 * Answers in place of the program in front of the server. This program has half of the key of the
 * secret storage. Without it the page keeps secrets in memory, and a reload forgets them. The
 * answer comes from the page. A route of the browser would switch off its cache and send every
 * request of the workbench through this process.
 */
async function keepSecrets(context: BrowserContext): Promise<void> {
  await context.addInitScript(
    (half) => {
      const { fetch } = globalThis;
      globalThis.fetch = (input, init) =>
        (input instanceof Request ? input.url : String(input)).endsWith('/mint-key')
          ? Promise.resolve(new Response(Uint8Array.from(half)))
          : fetch(input, init);
    },
    [...randomBytes(32)],
  );
}

export class Editor {
  /** Open windows, oldest first. */
  readonly windows: EditorWindow[] = [];
  readonly close: () => Promise<void>;

  constructor(
    readonly options: EditorOptions & { outputDir: string },
    readonly dataDir: string,
    /** The home folder for this editor's processes. */
    readonly home: string,
    readonly server: ServerProcess,
    readonly bridge: BridgeServer,
    readonly context: BrowserContext,
    dispose: () => Promise<void>,
  ) {
    this.close = onEnd(async () => {
      for (const window of [...this.windows]) await window.close().catch(() => undefined);
      await dispose();
    });
  }

  /** Opens a folder or a `.code-workspace` file (absolute path) and waits for the workbench. */
  async openWindow(target: string, options: WindowOptions = {}): Promise<EditorWindow> {
    const window = await EditorWindow.open(this, target, options);
    this.windows.push(window);
    return window;
  }

  /** The address for a person's browser. An empty target means a window without a folder. */
  addressOf(target: string): string {
    if (target === '')
      return `${this.server.origin}/?${new URLSearchParams({ tkn: this.server.token, ew: 'true' })}`;
    const kind = target.endsWith('.code-workspace') ? 'workspace' : 'folder';
    return `${this.server.origin}/?${new URLSearchParams({ tkn: this.server.token, [kind]: target })}`;
  }

  /**
   * Processes started inside the editor, which the product has to end. The editor's own are left
   * out.
   */
  processes(): ProcessEntry[] {
    return this.server.foreignProcesses();
  }

  /** The rest of `processes()` after `limitMs`, or an empty list as soon as all have ended. */
  leftProcesses(limitMs: number): Promise<ProcessEntry[]> {
    return waitUntilGone(() => this.processes(), limitMs);
  }
}
