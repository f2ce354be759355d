import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import chinese from '../../../l10n/bundle.l10n.zh-cn.json';
import { speak } from '../../../src/core/base/language.js';
import type { LaunchDescription, LaunchPart } from '../../../src/core/approval/fingerprint.js';
import {
  approveCommand,
  commandLine,
  dialogDetail,
  question,
  reviewTexts,
} from '../../../src/core/approval/approvalTexts.js';
import { halfWidth, pageWidth } from '../../../src/core/base/folded.js';
import { posixIt } from '../../support/notHere.js';
import { file } from '../vscode/views/statuses.js';

function launch(server: string, ...args: string[]): LaunchDescription {
  const parts: LaunchPart[] = [
    { label: 'transport', shown: 'stdio' },
    { label: 'command', shown: 'node' },
    ...args.map((shown): LaunchPart => ({ label: 'argument', shown })),
    { label: 'environment', shown: 'T = •••', digest: `${args.join('').padEnd(8, '0')}ffff` },
  ];
  return { server, source: file, parts, fingerprint: args.join() };
}

const fresh = (server: string) => ({ launch: launch(server, 'a'), before: undefined });
const changed = (server: string) => ({ launch: launch(server, 'b'), before: launch(server, 'a') });
const label = (path: string): string => path.replace('/folder/', '');

describe('the question before a start (S1)', () => {
  it('one question names all servers and their files', () => {
    assert.equal(
      question([fresh('a')], label),
      'The MCP server “a” of .minds/mcp.yaml wants to start.',
    );
    const edited =
      'The MCP server “a” of .minds/mcp.yaml has changed since you approved it, and wants to start.';
    assert.equal(question([changed('a')], label), edited);
    assert.equal(
      question([{ ...changed('a'), isServed: true }], label),
      `${edited} Until you approve it, its previous definition serves.`,
    );
    assert.equal(
      question([fresh('a'), fresh('b')], label),
      '2 MCP servers of .minds/mcp.yaml want to start: “a”, “b”.',
    );
    const mixed = question([fresh('a'), changed('b')], label);
    assert.equal(
      mixed,
      '2 MCP servers of .minds/mcp.yaml want to start, 1 of them changed since your approval: “a”, “b”.',
    );
    const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(fresh);
    assert.match(question(many, label), /“e” and 2 more\.$/);
  });

  it('the question has no text of the file that a message could take for a link', () => {
    const evil = { launch: launch('a', '[ok](command:mcpToolsets.approve)'), before: undefined };
    assert.doesNotMatch(question([evil], label), /command:/);
  });
});

describe('the review of a launch (S1)', () => {
  it('the two sides of a review differ only in the changed lines', () => {
    const { now, before = '' } = reviewTexts([changed('a')], label);
    const lines = now.split('\n').filter((line) => !before.split('\n').includes(line));
    assert.deepEqual(lines, ['  argument     b', '    (masked, changed, digest b0000000ffff)']);
  });

  it('two launches never have one text, and a changed masked value is marked (S1a)', () => {
    const masked = (...digests: string[]): LaunchDescription => ({
      ...launch('a'),
      parts: digests.map((digest) => ({ label: 'argument', shown: '--token=•••', digest })),
    });
    const one = `12345678${'a'.repeat(56)}`;
    const other = `12345678${'b'.repeat(56)}`;
    const alone = (shown: LaunchDescription): string =>
      reviewTexts([{ launch: shown, before: undefined }], label).now;
    assert.notEqual(alone(masked(one)), alone(masked(other)), 'eight digits are the same');
    const { now, before = '' } = reviewTexts(
      [{ launch: masked(other, one), before: masked(one, one) }],
      label,
    );
    assert.equal(now.replace(/\n {2}… /g, '').match(/masked, changed/g)?.length, 1);
    assert.match(now.replace(/\n {2}… /g, ''), /\(masked, changed, digest 12345678b{56}\)/);
    assert.doesNotMatch(before, /changed/);
    const swapped = reviewTexts(
      [{ launch: masked(other, one), before: masked(one, other) }],
      label,
    );
    assert.equal(swapped.now.replace(/\n {2}… /g, '').match(/masked, changed/g)?.length, 2);
    const added = reviewTexts([{ launch: masked(one, other), before: masked(one) }], label);
    assert.doesNotMatch(
      added.now.replace(/\n {2}… /g, ''),
      /changed/,
      'what is new is no changed value',
    );
  });

  it('a long value continues on further lines, which nothing else begins like (S1f)', () => {
    const value = `${'x'.repeat(250)}… evil`;
    const fresh = reviewTexts([{ launch: launch('a', value), before: undefined }], label).now;
    const compared = reviewTexts(
      [{ launch: launch('a', value), before: launch('a', 'b') }],
      label,
    ).now;
    for (const [text, width] of [
      [fresh, pageWidth],
      [compared, halfWidth],
    ] as const) {
      assert.ok(
        text.split('\n').every((line) => line.length <= width),
        text,
      );
      assert.ok(text.replace(/\n {2}… /g, '').includes(`  argument     ${value}\n`));
    }
    const wide = reviewTexts(
      [{ launch: launch('a', '漢'.repeat(100)), before: undefined }],
      label,
    ).now;
    assert.ok(Math.max(...[...wide.matchAll(/漢+/g)].map(([run]) => run.length)) <= pageWidth / 2);
  });

  it('a review has no other side if nothing was approved before', () => {
    assert.equal(reviewTexts([fresh('a')], label).before, undefined);
    const { before = '' } = reviewTexts([fresh('a'), changed('b')], label);
    assert.match(before, /^a {2}· {2}\.minds\/mcp\.yaml\n\n\nb {2}·/m);
  });

  it('a short review fits a message box with its changes marked, and a long one does not', () => {
    assert.equal(
      dialogDetail(changed('a')),
      'transport: stdio\ncommand: node\nargument: b   ← changed\nenvironment: T = •••   (masked, digest b0000000ffff)   ← changed',
    );
    const other = (...args: string[]): string | undefined =>
      dialogDetail({
        launch: launch('a', ...args),
        before: launch('a', 'x', '--read-only'),
      })?.replace(/\n.*masked.*/, '');
    assert.equal(other('x'), undefined, 'what is gone has no line that could be marked');
    assert.equal(other('x', '--read-only', 'y'), undefined);
    assert.equal(
      other('--read-only', 'x'),
      'transport: stdio\ncommand: node\nargument: --read-only   ← changed\nargument: x   ← changed',
      'another order',
    );
    assert.equal(
      dialogDetail({ launch: launch('a', 'x'.repeat(500)), before: undefined }),
      undefined,
    );
    assert.equal(
      dialogDetail({ launch: launch('a', ...'abcdefghijklmnop'), before: undefined }),
      undefined,
    );
  });
});

describe('the review of a launch in another language (E5)', () => {
  afterEach(() => speak('en', undefined));

  it('labels are Chinese and values stay, even one that is a word of ours', () => {
    const shown = launch('a', 'server', 'the file');
    speak('zh-cn', chinese);
    const { now } = reviewTexts([{ launch: shown, before: undefined }], label);
    const lines = now.split('\n').filter((line) => /^ {2}\S/.test(line));
    assert.deepEqual(lines, [
      '  传输方式     stdio',
      '  命令         node',
      '  参数         server',
      '  参数         the file',
      '  环境变量     T = •••',
    ]);
    assert.match(now, /\(已遮盖、摘要 serverthe/);
  });
});

describe('command that approves a server (S1i)', () => {
  it('a command names its folder, and nothing in the name of the folder acts in a shell', () => {
    assert.equal(approveCommand('a'), 'mcp-toolsets approve a');
    assert.equal(approveCommand('a', '/ws/my-app.2'), 'mcp-toolsets approve a -C /ws/my-app.2');
  });

  posixIt('cmd.exe has other quotes')('a command quotes a folder for a shell', () => {
    for (const folder of [
      '/ws/my app',
      '/ws/$(touch x)',
      '/ws/`x`',
      `/ws/it's`,
      '/ws/a;b',
      '/ws/"x"',
      '/~',
    ]) {
      const words = approveCommand('a', folder).replace('mcp-toolsets approve', 'printf %s,');
      assert.equal(execFileSync('/bin/sh', ['-c', words], { encoding: 'utf8' }), `a,-C,${folder},`);
    }
    assert.doesNotMatch(approveCommand('a', '/ws/a\nb'), /\n/);
  });
});

describe('command line of a launch (S1)', () => {
  it('quotes arguments with spaces', () => {
    assert.equal(commandLine(launch('a', '--x', '"a b"')), 'node --x "a b"');
  });
});
