/**
 * The SDK's transport over a running process (X1). It does not load the SDK. Invariants: the exit
 * of the direct child ends the transport, after the rest of stdout has been read; every end of the
 * transport ends the tree; `onclose` is called once, with `causeOfEnd` known.
 */
import { once } from 'node:events';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../base/log.js';
import { delay, type Clock } from '../../base/clock.js';
import { TokenBucket } from '../../base/tokenBucket.js';
import type { LoopShare } from '../../base/turns.js';
import { jsonOf } from '../../base/jsonInSlices.js';
import { asFields, isObject } from '../../base/isObject.js';
import { decodedInSlices, storedJson } from '../../protocol/json.js';
import { TransientMap } from '../../base/transientMap.js';
import { shortened } from '../../protocol/inBrief.js';
import {
  largestAnswer,
  largestUnasked,
  longMessage,
  unaskedMs,
  parseLongMessages,
  parseMessages,
} from '../../protocol/jsonRpc.js';
import { endLength, LineSplitter } from './lineSplitter.js';
import { errorCodes } from '../../protocol/errors.js';
import type { ProcessTree } from '../../processes/processTree.js';
import {
  causeOfDeath,
  faultOfAnswer,
  type StdioEnding,
  type StdioRemains,
} from '../../failures/stdio.js';
import { failureAnswer, TransportFailure } from '../../failures/transportFailure.js';
import type { ServerTransport } from '../../peer/peer.js';
import type { Readable } from 'node:stream';

interface StdioTransportDeps {
  readonly tree: Pick<ProcessTree, 'pid' | 'stdin' | 'stdout' | 'stderr' | 'exited' | 'stop'>;
  readonly log: Log;
  readonly share: LoopShare;
  /**
   * If a stream ends first, the exit is awaited this long, because it says more. By default 2,000
   * ms.
   */
  readonly exitGraceMs?: number;
}

const stderrLineLimit = 8 * 1024;
/** A usage has many lines, and a cause may be above it. */
const keptStderrLines = 60;
const keptStrayLines = 40;
const keptLineLength = 500;
const loggedLineLength = 2000;
/**
 * After this many requests in a row without overlap, the next ones are expected to be single too.
 */
const whileAlone = 8;
const usualExitGraceMs = 2000;
/** In characters. */
const shortLine = 4_096;
/** The time to skip an empty line, in milliseconds. */
const emptyMs = 0.001;
/** This many bytes of stderr are read in a second at full speed. */
const stderrRate = 4 * 1024 * 1024;
/** With this many unread bytes, a server gets no more answers to its requests. */
const answerBacklog = 1024 * 1024;
const drainLimitMs = 30;

export class StdioTransport implements ServerTransport {
  onclose?: (() => void) | undefined;
  onmessage?: ServerTransport['onmessage'];

  private readonly stderr: string[] = [];
  private readonly stray: string[] = [];
  private sawMessage = false;
  /** What is wrong with an answer behind the last message. */
  misread: string | undefined;
  /**
   * Lines that did not fit into their turn, and the lines after them, until they have been
   * delivered.
   */
  private lines: (string | readonly Buffer[])[] = [];
  private reading: Promise<void> | undefined;
  private hasExited = false;
  private finished: StdioEnding | undefined;
  private inARow = 0;
  private quietTurns = 0;
  private drained: Promise<void> | undefined;
  private readonly stdoutLines: LineSplitter;
  private readonly stderrLines: LineSplitter;
  private readonly stdoutPace: ReadPace;
  private readonly stderrPace: ReadPace;
  /**
   * The ids of our open requests, as texts, because some servers answer with the number as a text.
   */
  private readonly asked = new TransientMap<string, true>();
  private resolveEnded: (ending: StdioEnding) => void = () => {};
  /** Resolves when the transport has ended, even if it was never started. */
  readonly ended = new Promise<StdioEnding>((resolve) => {
    this.resolveEnded = resolve;
  });

  constructor(private readonly deps: StdioTransportDeps) {
    const { tree } = deps;
    const { clock } = deps.share;
    this.stdoutLines = new LineSplitter({
      limit: () => this.lineLimit,
      onLine: (line) => this.take(line),
      long: { from: longMessage, onLine: (pieces) => this.take(pieces) },
      onExcess: () => this.logLeftOut(this.lineLimit),
      onSkipped: (head, tail) => this.leaveOut(head, tail),
    });
    this.stdoutPace = new ReadPace(tree.stdout, clock);
    this.stderrPace = new ReadPace(tree.stderr, clock);
    const stderrBucket = new TokenBucket(clock, stderrRate, stderrRate);
    this.stderrLines = new LineSplitter({
      limit: stderrLineLimit,
      onLine: (line) => this.readStderr(line),
      // At once, because the line may never end.
      onExcess: (head) => {
        deps.log.write('warn', 'The rest of a very long line of stderr is left out.');
        this.readStderr(head);
        return 'skip';
      },
    });
    tree.stdout.on('data', (chunk: Buffer) => {
      this.quietTurns = 0;
      this.stdoutLines.push(chunk);
    });
    tree.stderr.on('data', (chunk: Buffer) => {
      this.quietTurns = 0;
      this.stderrLines.push(chunk);
      this.stderrPace.rest(stderrBucket.take(chunk.length));
    });
    tree.stdin.on('error', () => void this.streamClosed('input'));
    tree.stdout.on('end', () => void this.streamClosed('output'));
    void tree.exited.then(async (exit) => {
      this.hasExited = true;
      this.endPaces();
      await this.readTheRest();
      await this.reading;
      this.finish({ kind: 'exited', exit });
    });
  }

  get pid(): number {
    return this.deps.tree.pid;
  }

  get isOver(): boolean {
    return this.finished !== undefined || !this.deps.tree.stdin.writable;
  }

  get causeOfEnd(): string {
    return causeOfDeath(this.finished ?? { kind: 'closed' }, this.remains);
  }

  get remains(): StdioRemains {
    const unfinished = shortened(this.stdoutLines.unfinished.trim(), keptLineLength);
    const last = shortened(this.stderrLines.unfinished.trim(), keptLineLength);
    const stderr = last === '' ? [...this.stderr] : [...this.stderr, last];
    return {
      stderr,
      stray: [...this.stray],
      // The second byte of a line break in UTF-16.
      unfinished: unfinished === '\0' ? '' : unfinished,
      misread: this.misread ?? faultOfAnswer(unfinished),
      sawMessage: this.sawMessage,
    };
  }

  start(): Promise<void> {
    if (this.finished) queueMicrotask(() => this.onclose?.());
    return Promise.resolve();
  }

  /** Resolves when the pipe has taken the message; rejects if the transport has ended. */
  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.deps.tree;
    if (this.isOver) {
      // Node closes the pipe before it reports the exit. A sender failing now would close the rest
      // and hide the cause.
      await this.ended;
      throw new Error('The server takes no more input');
    }
    if ('method' in message) {
      if ('id' in message) {
        this.asked.set(String(message.id), true);
        this.misread = undefined;
        this.inARow = this.asked.size > 1 ? 0 : this.inARow + 1;
      }
    } else if (stdin.writableLength > answerBacklog) {
      return this.deps.log.write(
        'warn',
        'The server reads no input, so it gets no more answers to its requests.',
      );
    }
    const json = jsonOf(message);
    const line = oneLine(typeof json === 'string' ? json : await json);
    if (!this.isAlone) this.gather();
    // An answer that waited for the pipe would hold its request for as long: some 5 KB for 100
    // bytes.
    if (stdin.write(`${line}\n`) || !('method' in message)) return;
    this.drained ??= this.untilDrained();
    await this.drained;
  }

  private async untilDrained(): Promise<void> {
    await Promise.race([once(this.deps.tree.stdin, 'drain').catch(() => undefined), this.ended]);
    this.drained = undefined;
  }

  /**
   * Messages of one turn go into the pipe as one write, because separate writes are most of the
   * cost of a call (P3).
   */
  private gather(): void {
    const { stdin } = this.deps.tree;
    if (stdin.writableCorked > 0) return;
    stdin.cork();
    setImmediate(() => stdin.uncork());
  }

  /**
   * If no two calls overlapped for a while, no others will follow in this turn, so a message does
   * not wait for its end.
   */
  private get isAlone(): boolean {
    return this.asked.size <= 1 && this.inARow > whileAlone;
  }

  private get lineLimit(): number {
    return this.asked.size > 0 ? largestAnswer : largestUnasked;
  }

  async close(): Promise<void> {
    this.finish({ kind: 'closed' });
    await this.stopTree();
  }

  private async stopTree(): Promise<void> {
    const survivors = await this.deps.tree.stop();
    if (survivors.length === 0) return;
    this.deps.log.write('warn', `Processes that could not be ended: ${survivors.join(', ')}`);
  }

  private endPaces(): void {
    this.stdoutPace.dispose();
    this.stderrPace.dispose();
  }

  private finish(ending: StdioEnding): void {
    if (this.finished) return;
    this.finished = ending;
    this.endPaces();
    this.stderrLines.end();
    this.resolveEnded(ending);
    this.onclose?.();
    if (ending.kind !== 'closed') void this.stopTree();
  }

  private async streamClosed(stream: 'input' | 'output'): Promise<void> {
    if (this.finished) return;
    await Promise.race([
      this.ended,
      pause(this.deps.exitGraceMs ?? usualExitGraceMs, undefined, { ref: false }),
    ]);
    // After a blocked event loop, the exit is reported in this turn.
    await nextTurn();
    if (!this.hasExited) this.finish({ kind: 'streamClosed', stream });
  }

  /** Lets the event loop turn until turns bring nothing, because then the pipes are empty. */
  private async readTheRest(): Promise<void> {
    const { stdout, stderr } = this.deps.tree;
    const deadline = performance.now() + drainLimitMs;
    this.quietTurns = 0;
    // On a busy machine a few turns take long. The limit is for a grandchild writing on and on.
    for (let turn = 0; this.quietTurns < 3 && (turn < 10 || performance.now() < deadline); turn++) {
      this.quietTurns += 1;
      await nextTurn();
      if (stdout.readableEnded && stderr.readableEnded) break;
    }
    this.stdoutLines.end();
  }

  private take(line: string | readonly Buffer[]): void {
    if (this.finished) return;
    const fits =
      typeof line === 'string' && !this.reading && !this.deps.share.isTurnFull && !isBatch(line);
    if (fits) return this.readLine(line);
    const pieces = typeof line === 'string' ? [] : line;
    if (pieces.reduce((sum, { length }) => sum + length, 0) > largestUnasked) {
      const head = pieces[0]?.toString('utf8', 0, endLength) ?? '';
      const tail = pieces.at(-1)?.subarray(-endLength).toString() ?? '';
      if (this.askedIn(head, tail) === undefined) {
        this.logLeftOut(largestUnasked);
        return;
      }
    }
    this.lines.push(line);
    this.reading ??= this.stdoutPace.during(this.readLines());
  }

  /**
   * Reads long lines in slices, and short ones in several turns, each to its end before more is
   * read (P10).
   */
  private async readLines(): Promise<void> {
    while (this.lines.length > 0) {
      const { lines } = this;
      this.lines = [];
      for (const line of lines) {
        if (this.finished) break;
        if (typeof line !== 'string') {
          const text = await this.deps.share.run(decodedInSlices(line));
          await this.hearInTurns(text, await parseLongMessages(this.deps.share, text));
        } else if (isBatch(line)) await this.hearInTurns(line, parseMessages(line));
        else {
          await this.deps.share.turn();
          this.readLine(line);
        }
      }
    }
    this.reading = undefined;
    this.stdoutPace.rest(this.deps.share.waitMs);
  }

  private async hearInTurns(
    line: string,
    messages: readonly JSONRPCMessage[] | undefined,
  ): Promise<void> {
    const each = messages?.map((message) => [message]) ?? [undefined];
    await this.deps.share.chargeTurns(each, (one) =>
      this.deps.share.spend(this.hear(line, one) * unaskedMs),
    );
  }

  private readLine(line: string): void {
    if (line.trim() === '') return this.spend(unaskedMs, emptyMs);
    // A short line takes less than its least charge, and asking for the processor time takes longer
    // than reading it (P3).
    const since = line.length < shortLine ? undefined : this.deps.share.now();
    const unasked = this.hear(line, parseMessages(line));
    const took = since === undefined ? 0 : this.deps.share.now() - since;
    if (unasked > 0) this.spend(Math.max(took, unasked * unaskedMs));
    // The reading of a short, expected answer is charged to the caller, not to the server. Its turn
    // still has an end.
    else this.deps.share.note(Math.max(took, unaskedMs));
  }

  private spend(ms: number, ofTurn?: number): void {
    this.deps.share.spend(ms, ofTurn);
    this.stdoutPace.rest(this.deps.share.waitMs);
  }

  /**
   * Returns the number of messages without an open request of ours; a line without messages counts
   * as one.
   */
  private hear(line: string, messages: readonly JSONRPCMessage[] | undefined): number {
    if (this.finished) return 0;
    if (!messages) {
      this.deps.log.write('warn', `[stdout] not JSON-RPC: ${shortened(line, loggedLineLength)}`);
      if (this.stray.length < keptStrayLines) this.stray.push(shortened(line, keptLineLength));
      this.misread = faultOfAnswer(line.slice(0, endLength)) ?? this.misread;
      this.answerUnreadably(line);
      return 1;
    }
    this.sawMessage = true;
    this.misread = undefined;
    let unasked = 0;
    for (const message of messages)
      if ('method' in message || !this.asked.delete(String(message.id))) unasked += 1;
    this.deliver(messages);
    return unasked;
  }

  /** An answer that is almost JSON costs the call it answers (X1a). */
  private answerUnreadably(line: string): void {
    const id = idInEnds(line.slice(0, endLength), line.slice(-endLength));
    if (id === undefined || !isAnswer(line) || !this.asked.delete(id)) return;
    const message = `The server answered with a line that cannot be read as JSON-RPC: ${shortened(line, keptLineLength)}`;
    this.deliver([
      {
        jsonrpc: '2.0',
        id,
        error: { code: errorCodes.parse, message },
      },
    ]);
  }

  private leaveOut(head: string, tail: string): void {
    const id = this.askedIn(head, tail);
    this.spend(unaskedMs);
    if (id === undefined) return;
    this.asked.delete(id);
    const reason = {
      kind: 'tooLarge',
      limit: largestAnswer,
      url: 'the server',
    } as const;
    this.deliver([failureAnswer(id, new TransportFailure(reason))]);
  }

  private logLeftOut(limit: number): 'skip' {
    this.deps.log.write(
      'warn',
      `[stdout] A message of more than ${limit / 1024 / 1024} MiB was left out.`,
    );
    return 'skip';
  }

  private askedIn(head: string, tail: string): string | undefined {
    const id = idInEnds(head, tail) ?? (this.asked.size === 1 ? this.asked.keys()[0] : undefined);
    return id !== undefined && this.asked.has(id) && isAnswerCut(head, tail) ? id : undefined;
  }

  private deliver(messages: readonly JSONRPCMessage[]): void {
    for (const message of messages) this.onmessage?.(message);
  }

  private readStderr(line: string): void {
    if (line.trim() === '') return;
    this.deps.log.write('info', `[stderr] ${shortened(line, loggedLineLength)}`);
    if (this.stderr.length === keptStderrLines) this.stderr.shift();
    this.stderr.push(shortened(line, keptLineLength));
  }
}

/**
 * Some readers, Node's among them, take these for line breaks too. Escaped, they are the same JSON.
 */
function oneLine(json: string): string {
  // A pattern would run in the runtime of V8, several times as slow (P3).
  if (!json.includes('\u0085') && !json.includes('\u2028') && !json.includes('\u2029')) return json;
  // The fastest way to replace each of a million.
  const escaped = json.split('\u0085').join('\\u0085').split('\u2028').join('\\u2028');
  return escaped.split('\u2029').join('\\u2029');
}

/** Each message of a batch gets a turn of its own. */
function isBatch(line: string): boolean {
  return !line.startsWith('{') && line.trimStart().startsWith('[');
}

const id = String.raw`"id"\s*:\s*("[^"\\]*"|\d+)`;
const version = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const atHead = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?${id}\s*,`);
const atTail = new RegExp(String.raw`,\s*${id}\s*(?:,\s*${version}\s*)?\}\s*$`);

function idInEnds(head: string, tail: string): string | undefined {
  const found = (atHead.exec(head) ?? atTail.exec(tail))?.[1];
  return found?.startsWith('"') ? found.slice(1, -1) : found;
}

/** True if the line has members of an answer. A line of a log may be JSON with an id. */
function isAnswer(line: string): boolean {
  const fields = line.length > longMessage ? undefined : asFields(storedJson(line));
  if (!fields || Object.keys(fields).length === 0) return isAnswerCut(line, '');
  const { jsonrpc, method, level, result, error } = fields;
  if (jsonrpc !== undefined) return method === undefined;
  return level === undefined && (result !== undefined || isObject(error));
}

function isAnswerCut(head: string, tail: string): boolean {
  const members = /"(?:jsonrpc|result|error)"\s*:/;
  return !head.includes('"method"') && (members.test(head) || members.test(tail));
}

/**
 * Stops the reading of a stream for a while (S2c): nothing is dropped, the pipe makes the writer
 * wait.
 */
class ReadPace {
  private readonly ending = new AbortController();
  private pauses = 0;
  private isResting = false;

  constructor(
    private readonly stream: Readable,
    private readonly clock: Clock,
  ) {}

  rest(waitMs: number): void {
    if (waitMs === 0 || this.isResting) return;
    this.isResting = true;
    const over = delay(this.clock, waitMs, this.ending.signal);
    void this.during(over.then(() => (this.isResting = false)));
  }

  async during(work: Promise<unknown>): Promise<void> {
    if (!this.ending.signal.aborted) this.stream.pause();
    this.pauses += 1;
    await work;
    this.pauses -= 1;
    if (this.pauses === 0) this.resume();
  }

  dispose(): void {
    this.ending.abort();
    this.resume();
  }

  private resume(): void {
    if (!this.stream.destroyed) this.stream.resume();
  }
}
