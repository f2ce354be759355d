/**
 * The core in a separate process for a test to kill. It serves FOLDER's config file until it is
 * killed. It prints the published tools on stdout, one JSON value per line, after every server has
 * started or failed. With `--at-once` it prints before that. With `--stop` it begins to end the
 * servers and prints so.
 *
 *   node hostMain.js FOLDER GUARDIAN [--at-once | --stop]
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { adminId } from '../../../src/core/catalogue/admin.js';
import type { Log } from '../../../src/core/base/log.js';
import { testCore } from './testCore.js';
import { patientClock } from './within.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

const [folder = '', guardianScript = '', mode] = process.argv.slice(2);
const file = path.join(folder, '.minds', 'mcp.yaml');
const log: Log = {
  write: (level, message) => void process.stderr.write(`[${level}] ${message}\n`),
};
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

async function main(): Promise<void> {
  const { host } = testCore({
    clock: patientClock,
    log,
    serverLog: () => log,
    env: process.env,
    guardianScript,
    filteredTools: () => 'off',
  });
  setInterval(() => {}, 1 << 30);
  const applied = host.setSources([{ file, folder, text: readFileSync(file, 'utf8') }]);
  if (mode === '--at-once') return say('starting');
  await applied;
  const toolsets = host.catalogue.toolsets.filter(({ id }) => id !== adminId);
  for (const { id } of toolsets) {
    const hang = {
      toolset: id,
      tool: `${id}_quiet`,
      arguments: { ms: 600_000 },
      conversation: 'd',
    };
    void host.call({ policy: policies.agent, ...hang, signal: new AbortController().signal });
  }
  if (mode === '--stop') void host.dispose();
  say(toolsets.map(({ id }) => id));
}

void main();
