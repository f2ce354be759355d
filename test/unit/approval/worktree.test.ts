/** Worktrees of a repository share approvals (S1k), and no other folder does. */
import assert from 'node:assert/strict';
import {
  chownSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { itNotHere } from '../../support/notHere.js';
import { MemoryApprovals } from '../../support/core/memoryApprovals.js';
import { describeLaunch, type LaunchDescription } from '../../../src/core/approval/fingerprint.js';
import { ApprovalLedger, type ApprovedServer } from '../../../src/core/approval/ledger.js';
import { relocated } from '../../../src/core/approval/relocated.js';
import { parseMindsFile } from '../../../src/core/config/read/parse.js';

describe('approvals of worktrees (S1k)', () => {
  let outside: string;
  let main: string;
  let tree: string;
  let store: MemoryApprovals;
  let ledger: ApprovalLedger;

  beforeEach(async () => {
    outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-worktree-')));
    [main, tree] = [path.join(outside, 'main'), path.join(outside, 'trees', 'one')];
    mkdirSync(path.join(main, '.git'), { recursive: true });
    add(tree, 'one');
    store = new MemoryApprovals();
    ledger = await open();
  });

  afterEach(() => rmSync(outside, { recursive: true }));

  async function open(): Promise<ApprovalLedger> {
    const opened = new ApprovalLedger({ store, asks: () => true });
    await opened.load();
    return opened;
  }

  /** Writes what `git worktree add` writes. */
  function add(folder: string, name: string, repository = path.join(main, '.git')): void {
    const own = path.join(repository, 'worktrees', name);
    mkdirSync(own, { recursive: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(own, 'gitdir'), `${path.join(folder, '.git')}\n`);
    writeFileSync(path.join(own, 'commondir'), '../..\n');
    writeFileSync(path.join(folder, '.git'), `gitdir: ${own}\n`);
  }

  function launch(
    folder: string,
    entry = '{ transport: stdio, command: node, args: [a.js] }',
    id = 'demo',
  ): LaunchDescription {
    const text = `version: 1\nservers:\n  ${id}: ${entry}\n`;
    const envFile = (): { kind: 'text'; text: string } => ({ kind: 'text', text: 'MODE=1\n' });
    const file = path.join(folder, '.minds', 'mcp.yaml');
    const deps = { env: {}, directoryExists: () => true, secret: () => undefined, envFile };
    const parsed = parseMindsFile({ file, folder, text }, deps);
    const [server] = parsed.kind === 'accepted' ? parsed.servers : [];
    assert.ok(server?.kind === 'valid', JSON.stringify(parsed.problems));
    return describeLaunch(server.definition);
  }

  const judged = (folder: string, entry?: string): string => ledger.judge(launch(folder, entry));

  it('A launch approved in one tree of a repository is approved in the others, for every process', async () => {
    await ledger.approve([launch(main)]);
    const other = await open();
    for (const each of [ledger, other]) assert.equal(each.judge(launch(tree)), 'approved');
    ledger = other;
    await other.revoke(launch(tree));
    await other.approve([launch(tree)]);
    add(path.join(outside, 'two'), 'two');
    assert.deepEqual([judged(main), judged(path.join(outside, 'two'))], ['approved', 'approved']);
  });

  it('Paths of the root count as the same in every part of a launch', async () => {
    const entry = (root: string): string =>
      `{ transport: stdio, command: '${root}/run', args: ['${root}', '--root=${root}/x', '${root}:/data'], cwd: sub, envFile: .env, env: { HERE: '${root}/y z', TOKEN: '${root}' } }`;
    await ledger.approve([launch(main, entry(main))]);
    assert.equal(judged(tree, entry(tree)), 'approved');
    const spaced = path.join(outside, 'with space');
    add(spaced, 'spaced');
    assert.equal(judged(spaced, entry(spaced)), 'approved');
    assert.equal(judged(tree, entry(main)), 'pending');
  });

  const args = (...words: string[]): string =>
    `{ transport: stdio, command: node, args: ${JSON.stringify(words)} }`;
  const unequal: [string, (root: string) => string][] = [
    ['a path that only begins like the root', (root) => args(`${root}-other/a.js`)],
    [
      'a path that only begins like the root and goes on with a dot',
      (root) => args(`${root}.old/a.js`),
    ],
    [
      'a path that only begins like the root and goes on with a blank',
      (root) => args(`${root} other/a.js`),
    ],
    ['a path that only ends like the root', (root) => args(`/elsewhere${root}/a.js`)],
    ['a path from the root to its parent', (root) => args(`${root}/../a.js`)],
    ['a relative path to the parent', () => args('../a.js')],
    ['a relative path to the parent in an option', () => args('--file=../a.js')],
    ['a relative path to the parent behind an option', () => args('-I../lib')],
    ['the parent itself behind an option', () => args('-C..')],
    ['a relative path to the parent in an encoding', () => args('--import', './%2E./a.mjs')],
    ['the parent itself', () => args('..')],
    ['a working directory in the parent', () => '{ transport: stdio, command: node, cwd: .. }'],
    [
      'a token that begins like the root',
      (root) => `{ transport: stdio, command: a, env: { API_TOKEN: '${root}x' } }`,
    ],
  ];
  for (const [what, entry] of unequal) {
    it(`A launch is not shared if it has ${what}`, async () => {
      await ledger.approve([launch(main, entry(main))]);
      assert.deepEqual(
        [judged(main, entry(main)), judged(tree, entry(tree))],
        ['approved', 'pending'],
      );
    });
  }

  it('The text of the mark is not the root, and a secret word is not a path', async () => {
    assert.notDeepEqual(relocated(['\0/', '\0\0/'], main), relocated([main, `\0${main}`], main));
    assert.notDeepEqual(relocated(['\0/'], main), relocated([main], main));
    const entry = (secret: string): string =>
      `{ transport: stdio, command: a, envFile: .env, env: { API_TOKEN: '${secret}' } }`;
    await ledger.approve([launch(main, entry(main))]);
    assert.deepEqual(
      [judged(tree, entry(tree)), judged(tree, entry('abcdef'))],
      ['approved', 'pending'],
    );
  });

  it('Every other difference of a launch needs a question in the worktree', async () => {
    await ledger.approve([launch(main)]);
    for (const entry of [
      args('b.js'),
      '{ transport: stdio, command: deno, args: [a.js] }',
      '{ transport: stdio, command: node, args: [a.js], cwd: sub }',
      '{ transport: stdio, command: node, args: [a.js], env: { NODE_OPTIONS: x } }',
      '{ transport: stdio, command: node, args: [a.js], envFile: .env }',
    ]) {
      assert.equal(judged(tree, entry), 'pending', entry);
    }
    assert.equal(ledger.judge(launch(tree, undefined, 'other')), 'pending');
    assert.equal(judged(path.join(tree, 'sub')), 'pending');
    assert.equal(
      ledger.approvedBefore(launch(tree, args('b.js')))?.fingerprint,
      launch(main).fingerprint,
    );
  });

  it('A masked value is compared between worktrees', async () => {
    const entry = (secret: string): string => args(`--token=${secret}`);
    await ledger.approve([launch(main, entry('abcdef123'))]);
    assert.deepEqual(
      [judged(tree, entry('abcdef123')), judged(tree, entry('abcdef124'))],
      ['approved', 'pending'],
    );
  });

  const claims: [string, (claiming: string) => void][] = [
    [
      'names the list of a worktree of the repository',
      (claiming) => cpSync(path.join(tree, '.git'), path.join(claiming, '.git')),
    ],
    [
      'has a link to the repository',
      (claiming) => symlinkSync(path.join(main, '.git'), path.join(claiming, '.git'), 'junction'),
    ],
    [
      'has a link to the file of a worktree',
      (claiming) => symlinkSync(path.join(tree, '.git'), path.join(claiming, '.git')),
    ],
    [
      'has a second name of the file of a worktree',
      (claiming) => linkSync(path.join(tree, '.git'), path.join(claiming, '.git')),
    ],
    [
      'names the repository itself',
      (claiming) => writeFileSync(path.join(claiming, '.git'), `gitdir: ${main}/.git\n`),
    ],
    [
      'brings a list of worktrees that names it, with the repository as `commondir`',
      (claiming) => {
        add(claiming, 'own', path.join(claiming, 'brought'));
        writeFileSync(path.join(claiming, 'brought/worktrees/own/commondir'), `${main}/.git\n`);
      },
    ],
    [
      'brings a list that leads to the repository by a link',
      (claiming) => {
        symlinkSync(path.join(main, '.git'), path.join(claiming, 'brought'), 'junction');
        writeFileSync(path.join(claiming, '.git'), `gitdir: ${claiming}/brought/worktrees/one\n`);
      },
    ],
    [
      'is a submodule of the repository',
      (claiming) => {
        const own = path.join(main, '.git', 'modules', 'worktrees', 'sub');
        mkdirSync(own, { recursive: true });
        writeFileSync(path.join(claiming, '.git'), `gitdir: ${own}\n`);
      },
    ],
    [
      'has a `.git` that is no text',
      (claiming) => writeFileSync(path.join(claiming, '.git'), Buffer.alloc(100_000)),
    ],
  ];
  for (const [what, make] of claims) {
    it(`A folder shares no approval if it ${what}`, async () => {
      const claiming = path.join(outside, 'claiming');
      mkdirSync(claiming);
      make(claiming);
      await ledger.approve([launch(main), launch(tree)]);
      assert.equal(judged(claiming), 'pending');
    });
  }

  itNotHere(process.getuid?.() !== 0, 'only root gives files away')(
    'A repository of another user shares nothing',
    async () => {
      await ledger.approve([launch(main)]);
      assert.equal(judged(tree), 'approved');
      for (const file of [path.join(main, '.git'), path.join(tree, '.git')]) {
        chownSync(file, 12345, 12345);
        assert.equal(judged(tree), 'pending', file);
        chownSync(file, 0, 0);
      }
    },
  );

  it('A submodule inside a worktree is not part of it', async () => {
    for (const root of [main, tree]) mkdirSync(path.join(root, 'sub'));
    await ledger.approve([launch(path.join(main, 'sub'))]);
    assert.equal(judged(path.join(tree, 'sub')), 'approved');
    writeFileSync(path.join(tree, 'sub', '.git'), 'gitdir: ../../../main/.git/modules/sub\n');
    assert.equal(judged(path.join(tree, 'sub')), 'pending');
  });

  it('Another repository in the place of a moved one has none of its approvals', async () => {
    await ledger.approve([launch(tree)]);
    assert.equal(judged(main), 'approved');
    renameSync(main, path.join(outside, 'moved'));
    mkdirSync(path.join(main, '.git'), { recursive: true });
    assert.deepEqual([judged(main), judged(path.join(outside, 'moved'))], ['pending', 'pending']);
  });

  it('The approvals of a removed worktree count nowhere else', async () => {
    await ledger.approve([launch(tree)]);
    assert.equal(judged(main), 'approved');
    rmSync(tree, { recursive: true });
    assert.equal(judged(main), 'pending');
  });

  it('A folder that holds the approvals gives none to its worktrees', async () => {
    class Inside extends MemoryApprovals {
      override readonly path = path.join(main, '.minds', 'approvals.json');
    }
    const approved = new ApprovalLedger({ store, asks: () => true });
    await approved.approve([launch(main)]);
    store = new Inside(store.text);
    ledger = await open();
    assert.deepEqual([judged(main), judged(tree)], ['pending', 'pending']);
  });

  it('A revocation in one tree holds in all trees, also in removed ones', async () => {
    const forgotten: ApprovedServer[] = [];
    ledger = new ApprovalLedger({
      store,
      asks: () => true,
      forgetOffers: (server) => forgotten.push(server),
    });
    await ledger.approve([launch(main), launch(tree), launch(main, undefined, 'other')]);
    assert.deepEqual(
      ledger.servers.map(({ server }) => server),
      ['demo', 'other'],
    );
    const before = launch(tree);
    rmSync(tree, { recursive: true });
    await ledger.revoke({ server: 'demo', source: path.join(main, '.minds', 'mcp.yaml') });
    assert.equal(forgotten.length, 1);
    add(tree, 'one');
    for (const each of [ledger, await open()]) {
      assert.deepEqual(
        [each.judge(launch(main)), each.judge(before), each.judge(launch(tree))],
        ['pending', 'pending', 'pending'],
      );
      assert.equal(each.judge(launch(tree, undefined, 'other')), 'approved');
    }
  });

  it('An entry with a malformed worktree approves nothing', async () => {
    await ledger.approve([launch(main)]);
    store = new MemoryApprovals(store.text?.replace(/"within": "[^"]*"/, '"within": 1'));
    ledger = await open();
    assert.deepEqual([judged(main), judged(tree)], ['pending', 'pending']);
  });
});
