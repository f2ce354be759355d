/**
 * `mcp-toolsets record` and `replay`: stdio servers that write a cassette, or answer from it (H1a).
 */
import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Redactor } from '../core/base/log.js';
import { makePrivateFile } from '../core/base/privateFile.js';
import { isSecretVariable } from '../core/base/secretNames.js';
import { largestForeignFile, readTextFileSync } from '../core/base/textFile.js';
import {
  entryLines,
  headLine,
  messagesIn,
  parseCassette,
  type Side,
  Player,
} from '../core/cassette/cassette.js';
import { LineSplitter } from '../core/connections/stdio/lineSplitter.js';
import { keeperWith } from '../core/processes/keeper.js';
import { startProcess } from '../core/processes/processTree.js';
import { Interruption } from './interruption.js';
import type { Words } from './options.js';
import { complain, misuse, passLine, reasonOf } from './output.js';
import type { Run } from './withEngine.js';

/** A message may have this many bytes. */
const longestLine = 64 << 20;

export async function record(run: Run, [file, ...words]: Words): Promise<number> {
  const [command, ...args] = words;
  if (file === undefined || command === undefined) {
    return misuse(
      '`record` takes a file and the command of a server, such as `record calls.jsonl -- npx -y server`.',
    );
  }
  const { env } = process;
  // An editor starts this command with it. A server that is an Electron program would be bare Node.
  delete env['ELECTRON_RUN_AS_NODE'];
  const redactor = new Redactor();
  const secrets = Object.entries(env).filter(
    ([name, value = '']) => value !== '' && isSecretVariable(name, value),
  );
  redactor.register(secrets.map(([, value = '']) => value));
  let cassette: WriteStream;
  try {
    cassette = await openCassette(path.resolve(file), headLine(words, redactor));
  } catch (error) {
    return complain(`The cassette cannot be written: ${reasonOf(error)}. The file stays as it is.`);
  }
  const session = randomBytes(6).toString('hex');
  const { keeper, next } = keeperWith(run.guardianScript, env);
  const interruption = new Interruption();
  const started = await startProcess({
    command,
    args,
    cwd: process.cwd(),
    env,
    ...next(),
  });
  try {
    if (started.kind === 'notStarted')
      return complain(`"${command}" could not be started: ${reasonOf(started.error)}.`);
    const { tree } = started;
    const keep = (from: Side, text: string): void => {
      for (const entry of entryLines(session, from, text, redactor)) cassette.write(`${entry}\n`);
    };
    passOn(process.stdin, (text) => {
      keep('client', text);
      tree.stdin.write(`${text}\n`);
    });
    passOn(tree.stdout, (text) => {
      keep('server', text);
      passLine(text);
    });
    tree.stderr.pipe(process.stderr, { end: false });
    const exited = tree.exited.then(({ code }) => code ?? 1);
    const code = await Promise.race([untilLeft(interruption), exited]);
    await tree.stop();
    cassette.end();
    const lost = await finished(cassette).then(() => undefined, reasonOf);
    if (lost === undefined) return code;
    complain(`${file} cannot be written, so the cassette is not whole: ${lost}.`);
    return code || 1;
  } finally {
    process.stdin.destroy();
    await keeper.dispose();
    interruption.dispose();
    cassette.destroy();
  }
}

/** Rejects if the file is anything but a cassette. */
async function openCassette(file: string, head: string): Promise<WriteStream> {
  const before = existsSync(file) ? readTextFileSync(file, largestForeignFile) : undefined;
  if (before === undefined) await makePrivateFile(file, `${head}\n`);
  else parseCassette(before);
  const cassette = createWriteStream(file, { flags: 'a' });
  await once(cassette, 'open');
  // The error is reported at the end.
  cassette.on('error', () => {});
  if (before?.endsWith('\n') === false) cassette.write('\n');
  return cassette;
}

export async function replay(_: Run, [file = '']: Words): Promise<number> {
  let player: Player;
  try {
    const entries = parseCassette(readTextFileSync(path.resolve(file), largestForeignFile));
    player = new Player(entries, (message) => passLine(JSON.stringify(message)));
  } catch (error) {
    return complain(`${file} cannot be replayed: ${reasonOf(error)}.`);
  }
  const interruption = new Interruption();
  passOn(process.stdin, (text) => {
    for (const message of messagesIn(text)) void player.take(message);
  });
  const code = await untilLeft(interruption);
  process.stdin.destroy();
  interruption.dispose();
  return code;
}

function untilLeft({ exitCode }: Interruption): Promise<number> {
  return Promise.race([once(process.stdin, 'end').then(() => 0), exitCode]);
}

function passOn(from: Readable, onLine: (text: string) => void): void {
  const lines = new LineSplitter({
    limit: longestLine,
    onLine: (text) => {
      if (text.trim() !== '') onLine(text);
    },
    onExcess: () => 'skip',
  });
  from.on('data', (chunk: Buffer) => lines.push(chunk));
}
