/**
 * Runs one scenario of the published conformance suite, of either side, in a separate process. The
 * suite needs a newer Node than the tests, and the tests use the Node of the editor under test.
 * Scenarios run one by one. In a run of the whole suite, a scenario without checks passes, and so
 * does a failing client.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { modernVersion } from '../../../src/core/protocol/versions.js';
import { provisionNode } from '../editor/provision.ts';
import { repoRoot } from '../npm.mjs';
import { bundled, bundleModule, runFolder } from './bundles.js';
import { fixture } from './configText.js';
import { startStage } from './stage.js';
import { startTokenProxy } from './tokenProxy.js';
import { patience } from './within.js';

const clientLimitMs = 30_000 * patience;

/**
 * Each era of the protocol has a version of the suite, because the older suite lacks the newer era.
 */
const suites = {
  legacy: { name: '@modelcontextprotocol/conformance', options: [] },
  modern: { name: 'conformance-modern', options: ['--spec-version', modernVersion] },
} as const;

export type Era = keyof typeof suites;

interface Scenario {
  readonly era: Era;
  readonly scenario: string;
}

export type ConformanceRun =
  /** Our client. A shell runs its command with the server's address at the end. */
  | (Scenario & {
      readonly side: 'client';
      readonly command: string;
      readonly env?: Readonly<Record<string, string>>;
    })
  /** Our server. The suite sends it no token. */
  | (Scenario & { readonly side: 'server'; readonly url: string });

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
  /** 0 only if the suite counts it as passed. The suite also checks the exit code of a client. */
  readonly exitCode: number;
  /** The output of the suite and of a client. */
  readonly output: string;
}

/** Resolves after the suite's process and its children have ended. */
export async function runConformance(run: ConformanceRun): Promise<ConformanceOutcome> {
  const node = await provisionNode();
  const folder = await mkdtemp(path.join(tmpdir(), 'mcp-toolsets-conformance-'));
  try {
    const { name, options } = suites[run.era];
    const own =
      run.side === 'server'
        ? ['--url', run.url]
        : ['--command', run.command, '--timeout', String(clientLimitMs)];
    const args = [
      suiteProgram(name),
      run.side,
      '--scenario',
      run.scenario,
      '--output-dir',
      folder,
      ...options,
      ...own,
    ];
    // The suite needs more time to compile than for a scenario.
    const compiled = { NODE_COMPILE_CACHE: path.join(runFolder(), 'compiled') };
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      ...compiled,
      ...(run.side === 'client' ? run.env : {}),
    };
    delete env['NODE_OPTIONS'];
    const { exitCode, output } = await runToEnd(node, args, env);
    const results = await readResults(folder);
    return { exitCode, output: [output, ...results.texts].join('\n'), checks: results.checks };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * One file, made once a run, because loading the suite's hundreds of files takes most of a
 * scenario.
 */
function suiteProgram(name: string): string {
  const source = path.join(repoRoot, 'node_modules', name);
  const home = path.join(runFolder(), 'suites', name);
  const program = path.join(home, 'dist/index.mjs');
  if (existsSync(program)) return program;
  bundleModule(path.join(source, 'dist/index.js'), program);
  // The newer suite looks for these lists next to its program.
  const lists = path.join(home, 'requirements');
  if (!existsSync(lists)) symlinkSync(path.join(source, 'requirements'), lists, 'junction');
  return program;
}

/** The scenarios that count for an implementation of 2026-07-28. */
export async function scoredScenarios(side: ConformanceRun['side']): Promise<readonly string[]> {
  const file = path.join(
    repoRoot,
    'node_modules',
    suites.modern.name,
    'requirements',
    `${modernVersion}.yaml`,
  );
  return (parse(await readFile(file, 'utf8')) as Record<ConformanceRun['side'], string[]>)[side];
}

/**
 * Every check holds, and there is at least one, because a scenario without checks proves nothing.
 */
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

/** Our client passes a scenario. */
export async function assertClientConformant(era: Era, scenario: string): Promise<void> {
  const program = await bundled('test/support/core/conformanceClient.ts');
  const command = [process.execPath, program].map((part) => JSON.stringify(part)).join(' ');
  assertConformant(await runConformance({ era, side: 'client', scenario, command }));
}

/**
 * Starts the gateway with a server of `test/fixtures` behind it. Returns its address, which needs
 * no token.
 */
export async function startSuiteGateway(
  server: string,
  options: NonNullable<Parameters<typeof startStage>[0]> = {},
): Promise<string> {
  const stage = await startStage(options);
  await stage.edit({ suite: fixture(server) });
  const proxy = await startTokenProxy((await stage.gateway()).endpoint('suite', 'agent'));
  stage.onDispose(() => proxy.close());
  return proxy.url;
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

/** The suite writes a folder per scenario with its checks and the output of a client. */
async function readResults(
  folder: string,
): Promise<{ checks: ConformanceCheck[]; texts: string[] }> {
  const checks: ConformanceCheck[] = [];
  const texts: string[] = [];
  for (const file of (await readdir(folder, { recursive: true })).sort()) {
    const name = path.basename(file);
    if (name === 'checks.json') {
      checks.push(
        ...(JSON.parse(await readFile(path.join(folder, file), 'utf8')) as ConformanceCheck[]),
      );
    } else if (name.endsWith('.txt')) {
      texts.push(await readFile(path.join(folder, file), 'utf8'));
    }
  }
  return { checks, texts };
}
