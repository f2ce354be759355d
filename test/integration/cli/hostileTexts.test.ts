/**
 * Every command against hostile texts in files and from a server (S1d). The texts would control a
 * terminal. Only printable text and line ends reach stdout and stderr, in a pipe and on a terminal.
 * Only requested content goes raw into a pipe.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixture } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';
import { Terminal, terminalsMissing } from '../../support/core/terminal.js';
import { itNotHere } from '../../support/notHere.js';

const evil =
  'x\u001b[2J\u001b]0;owned\u0007\u009b31m\r\u202e\u2028\nmcp.yaml:1:1: error fake: y\u0008\u007f';
const steering = /[\0-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/u;
const onTerminal = itNotHere(terminalsMissing.here, terminalsMissing.reason);
/** A line beginning that only an outside text can contain. */
const forged = /^mcp\.yaml:1:1: error fake/m;

const commands: readonly (readonly string[])[] = [
  ['check'],
  ['check', '--start'],
  ['status'],
  ['tools'],
  ['tools', 'a'],
  ['call', 'errs'],
  ['call', evil],
  ['resources'],
  ['read', evil],
  ['read', 'note://three'],
  ['prompts'],
  ['prompt', evil],
  ['entries', 'claude-code'],
  ['entries', evil],
  ['import', 'evil.json'],
  ['import', evil],
  ['serve', '--port', evil],
  [evil],
  ['status', `--${evil}`],
  ['status', '-C', evil],
];
/** They print requested content. */
const content: readonly (readonly string[])[] = [
  ['call', 'good'],
  ['read', 'note://one'],
  ['prompt', 'ask'],
];

describe('hostile texts on the command line (S1d)', () => {
  let cli: CommandLine;

  before(async () => {
    cli = await CommandLine.open();
  });

  beforeEach(() => {
    cli.save({
      a: fixture('steers'),
      b: fixture('steers', ['--fail']),
      c: { transport: 'stdio', command: evil },
      d: { transport: 'streamable_http', url: `http://127.0.0.1:9/${evil}` },
      [evil]: fixture('steers', [], { [evil]: evil, tools: { whitelist: [evil] } }),
    });
    writeFileSync(
      path.join(cli.folder, 'evil.json'),
      JSON.stringify({
        mcpServers: {
          [evil]: { command: evil, args: [evil], env: { [evil]: evil, API_KEY: evil } },
          e: { [evil]: 1 },
        },
      }),
    );
  });

  after(() => cli.close());

  const name = (args: readonly string[]): string => JSON.stringify(args.join(' ').slice(0, 40));

  for (const args of [...commands, ...content.map((each) => [...each, '--json'])]) {
    it(`\`${name(args)}\` prints only inert text into a pipe`, async () => {
      const { stdout, stderr } = await cli.run(...args);
      assert.notEqual(stdout + stderr, '');
      assert.doesNotMatch(stdout, steering);
      assert.doesNotMatch(stderr, steering);
      assert.doesNotMatch(stdout + stderr, forged);
      if (args.includes('--json')) assert.doesNotThrow(() => JSON.parse(stdout) as unknown);
    });
  }

  for (const args of [
    ['check'],
    ['status'],
    ['tools'],
    ['resources'],
    ['prompts'],
    ['entries', 'codex'],
    ['import', 'evil.json'],
  ]) {
    it(`\`${name(args)}\` prints only inert text as JSON`, async () => {
      const { stdout, stderr } = await cli.run(...args, '--json');
      assert.doesNotMatch(stdout + stderr, steering);
      assert.doesNotThrow(() => JSON.parse(stdout) as unknown, stdout);
    });
  }

  it('Requested content goes unchanged into a pipe, and nothing else does', async () => {
    for (const args of [...content, ['call', 'fails', '--debug']]) {
      const { stdout, stderr } = await cli.run(...args);
      assert.match(stdout, /\u001b\[2J/, name(args));
      assert.doesNotMatch(stderr, steering, name(args));
      assert.doesNotMatch(stderr, forged, name(args));
    }
  });

  onTerminal('and to a terminal so that it cannot act there, like everything else', async () => {
    for (const args of [
      ...content,
      ['status'],
      ['tools'],
      ['import', 'evil.json'],
      ['call', 'fails', '--debug'],
    ]) {
      const terminal = new Terminal(cli.commandOf(...args), cli.folder, 200);
      await terminal.end();
      assert.doesNotMatch(terminal.shown.replaceAll('\r\n', '\n'), steering, name(args));
    }
  });

  it('`serve` prints only inert text about its servers', async () => {
    const serving = await Serving.begin(cli, ['a']);
    try {
      await serving.until(/^\S*mcp\.yaml:\d+:\d+: error /m);
    } finally {
      await serving.end();
    }
    assert.doesNotMatch(serving.stdout + serving.stderr, steering);
    assert.doesNotMatch(serving.stdout + serving.stderr, forged);
  });
});
