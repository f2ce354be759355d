/**
 * `npm run test:servers`: real servers through every road, compared with a bare client.
 *
 *   npm run test:servers -- [--only everything,memory]
 *
 * Installs missing servers and prints a table. Exits with 1 for a difference without a row in
 * `known.ts`.
 */
import { parseArgs } from 'node:util';
import { Comparison } from './comparison.js';
import { known } from './known.js';
import { allServers, erasOf, transportOf } from './servers.js';

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  const wanted = values.only?.split(',');
  const servers = allServers.filter(({ id }) => wanted === undefined || wanted.includes(id));
  const timed = async <Made>(title: string, step: () => Promise<Made>): Promise<Made> => {
    const since = Date.now();
    const made = await step();
    console.log(`${title}: ${((Date.now() - since) / 1000).toFixed(1)} s`);
    return made;
  };
  const comparison = await timed('bare client', () => Comparison.begin(servers));
  try {
    await timed('endpoints, two conversations, death', () => comparison.endpoints());
    await timed('editor', () => comparison.editor());
    await timed('connect', () => comparison.connect());
    await timed('command line', () => comparison.commandLine());
  } finally {
    await comparison.close();
  }
  console.log(
    '\n| server | transport | era | tools | calls compared | differences |\n|---|---|---|---|---|---|',
  );
  for (const subject of comparison.subjects) {
    const { server, calls, differences } = subject;
    const tools = subject.bare('legacy').lists.tools.length;
    const eras = erasOf(server).join(' and ');
    console.log(
      `| ${server.id} | ${transportOf(server)} | ${eras} | ${tools} | ${calls} | ${differences.length} |`,
    );
  }
  for (const { server, roads, what, why } of known)
    console.log(`Known: ${server}, ${roads.join(', ')}: ${what.join(', ')}. ${why}`);
  const surprises = comparison.surprises();
  for (const each of surprises) console.log(`\n${each}`);
  return surprises.length > 0 ? 1 : 0;
}

void main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
