/**
 * The desktop form of VS Code. `@vscode/test-electron` fetches it if there is a display and its
 * download host answers. It runs the suites of `test/editor/suites`. Suites that need a page always
 * use the server form.
 */
import { downloadAndUnzipVSCode } from '@vscode/test-electron';
import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { onEnd } from './cleanup.ts';
import { installs } from '../installs.ts';
import { desktopEditor, editorChoiceVariable, hangLimitMs } from './versions.ts';

const host = 'https://update.code.visualstudio.com/api/releases/stable';
const reachLimitMs = 5_000;

/**
 * The desktop editor's program, or a reason for its absence. `MCP_TOOLSETS_EDITOR` asks for a
 * server form.
 */
export async function findDesktop(): Promise<{ executable: string } | { reason: string }> {
  const choice = process.env[editorChoiceVariable];
  if (choice) return { reason: `${editorChoiceVariable}=${choice} asks for it` };
  if (process.platform === 'linux' && !process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) {
    return { reason: 'there is no display' };
  }
  try {
    await fetch(host, { signal: AbortSignal.timeout(reachLimitMs) });
  } catch {
    return { reason: `the download host does not answer (${new URL(host).host})` };
  }
  try {
    const download = downloadAndUnzipVSCode({ version: desktopEditor, cachePath: installs });
    const limit = AbortSignal.timeout(hangLimitMs);
    const executable = await Promise.race([
      download,
      new Promise<never>((_, failed) =>
        limit.addEventListener('abort', () => failed(new Error('it took too long'))),
      ),
    ]);
    return { executable };
  } catch (error) {
    return {
      reason: `the download failed: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

export interface DesktopOptions {
  executable: string;
  target: string;
  dataDir: string;
  extensionsDir: string;
  developmentPath?: string | undefined;
  testsPath?: string | undefined;
  trust: boolean;
  env: NodeJS.ProcessEnv;
  logFile: string;
}

/** Opens one desktop window. `ended` settles with the exit code after the editor has closed. */
export function openDesktop(options: DesktopOptions): {
  ended: Promise<number>;
  close: () => Promise<void>;
} {
  const args = [
    options.target,
    `--user-data-dir=${options.dataDir}`,
    `--extensions-dir=${options.extensionsDir}`,
  ];
  args.push(
    '--new-window',
    '--wait',
    '--skip-welcome',
    '--skip-release-notes',
    '--disable-updates',
    '--no-cached-data',
  );
  if (options.developmentPath) args.push(`--extensionDevelopmentPath=${options.developmentPath}`);
  if (options.testsPath) args.push(`--extensionTestsPath=${options.testsPath}`);
  if (options.trust) args.push('--disable-workspace-trust');
  if (process.platform === 'linux' && process.getuid?.() === 0) args.push('--no-sandbox');
  const child: ChildProcess = spawn(options.executable, args, {
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(options.logFile);
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  const ended = new Promise<number>((done, failed) => {
    child.once('error', failed);
    child.once('exit', (code) => done(code ?? 1));
  });
  const close = onEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await ended.catch(() => undefined);
    clearTimeout(kill);
  });
  return { ended, close };
}
