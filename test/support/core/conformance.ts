/**
 * One scenario of the published conformance suite, of either side, in a process of its own: the suite wants a newer Node
 * than the tests, which is that of the editor under test. One by one, because run as a suite a scenario without checks
 * passes, and so does a client that fails.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { provisionNode } from '../editor/provision.ts';
import { repoRoot } from '../npm.mjs';
import { patience } from './within.js';

const clientLimitMs = 30_000 * patience;

export type ConformanceRun =
  /** A client of ours: the server's address is appended to its command, which runs in a shell. */
  | {
      readonly side: 'client';
      readonly scenario: string;
      readonly command: string;
      readonly env?: Readonly<Record<string, string>>;
    }
  /** A server of ours: what speaks to it sends no token. */
  | { readonly side: 'server'; readonly scenario: string; readonly url: string };

export interface ConformanceCheck {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
  readonly details?: unknown;
}

export interface ConformanceOutcome {
  readonly checks: readonly ConformanceCheck[];
  /** 0 only when the suite counts it as passed; it also heeds the exit code of a client. */
  readonly exitCode: number;
  /** What the suite printed, and what a client printed. */
  readonly output: string;
}

/** Resolves when the suite's process and what it started have ended. */
export async function runConformance(run: ConformanceRun): Promise<ConformanceOutcome> {
  const node = await provisionNode();
  const folder = await mkdtemp(path.join(tmpdir(), 'mcp-toolsets-conformance-'));
  try {
    const suite = path.join(repoRoot, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const own =
      run.side === 'server' ? ['--url', run.url] : ['--command', run.command, '--timeout', String(clientLimitMs)];
    const args = [suite, run.side, '--scenario', run.scenario, '--output-dir', folder, ...own];
    const env = { ...process.env, ...(run.side === 'client' ? run.env : {}) };
    delete env['NODE_OPTIONS'];
    const { exitCode, output } = await runToEnd(node, args, env);
    const results = await readResults(folder);
    return { exitCode, output: [output, ...results.texts].join('\n'), checks: results.checks };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every check holds, and there is one: a scenario that checks nothing has shown nothing. */
export function assertConformant({ checks, exitCode, output }: ConformanceOutcome): void {
  const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  assert.deepEqual(
    failed.map(({ name, errorMessage }) => `${name}: ${errorMessage ?? 'failed'}`),
    [],
    output,
  );
  assert.ok(
    checks.some(({ status }) => status === 'SUCCESS'),
    `nothing was checked\n${output}`,
  );
  assert.equal(exitCode, 0, output);
}

function runToEnd(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: repoRoot, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ exitCode: code ?? 1, output }));
  });
}

/** The suite writes a folder for the scenario: its checks, and of a client what that printed. */
async function readResults(folder: string): Promise<{ checks: ConformanceCheck[]; texts: string[] }> {
  const checks: ConformanceCheck[] = [];
  const texts: string[] = [];
  for (const file of (await readdir(folder, { recursive: true })).sort()) {
    const name = path.basename(file);
    if (name === 'checks.json') {
      checks.push(...(JSON.parse(await readFile(path.join(folder, file), 'utf8')) as ConformanceCheck[]));
    } else if (name.endsWith('.txt')) {
      texts.push(await readFile(path.join(folder, file), 'utf8'));
    }
  }
  return { checks, texts };
}
