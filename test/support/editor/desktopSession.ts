/** The desktop editor with the folders, settings and bridge of the server form in `launch.ts`. */
import { join } from 'node:path';
import { repoRoot } from '../npm.mjs';
import { BridgeServer } from './bridgeServer.ts';
import { bridgeVariable, editorVariable } from './bridgeProtocol.ts';
import { onEnd, runId } from './cleanup.ts';
import { openDesktop } from './desktop.ts';
import type { TestWindow } from './insideSuite.ts';
import { prepareFolders, type EditorOptions } from './launch.ts';
import { killNow, processesMarked, waitUntilGone } from './processes.ts';
import { editorEnvironment } from './serverProcess.ts';

let started = 0;

export async function startDesktop(
  executable: string,
  options: EditorOptions,
  target: string,
  testsPath?: string,
): Promise<TestWindow & { bridge: BridgeServer }> {
  const folders = prepareFolders(options);
  const marker = `${runId}-desktop-${++started}`;
  const processes = () =>
    processesMarked(editorVariable, marker).filter(({ command }) => !command.includes(executable));
  const bridge = new BridgeServer({
    desktop: true,
    suites: options.suites,
    page: () =>
      Promise.reject(new Error('The desktop form has no page: call needsPage(this) first')),
    processes,
  });
  const address = await bridge.listen();
  const closeBridge = onEnd(() => bridge.close());
  const extra = { ...options.env, [bridgeVariable]: address, [editorVariable]: marker };
  const { ended, close } = openDesktop({
    executable,
    target,
    testsPath,
    developmentPath:
      options.developmentPath ??
      ((options.product ?? 'development') === 'development' ? repoRoot : undefined),
    dataDir: folders.dataDir,
    extensionsDir: folders.extensionsDir,
    trust: options.trust ?? true,
    env: editorEnvironment({
      home: folders.home,
      temp: folders.temp,
      extra,
    }),
    logFile: join(folders.outputDir, 'desktop.log'),
  });
  return {
    bridge,
    ended,
    keepTraces: () => Promise.resolve(),
    turnTo: () => undefined,
    close,
    leftProcesses: (limitMs) => waitUntilGone(processes, limitMs),
    dispose: async () => {
      await close();
      for (const { pid } of processesMarked(editorVariable, marker)) killNow(pid);
      await closeBridge();
      await folders.remove();
    },
  };
}
