import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConversationTitles } from '../../../../src/vscode/engine/conversationTitles.js';

const chat = 'd694395b-1a2b-4c3d-8e4f-0123456789ab';

describe('titles of conversations (E3)', () => {
  let folder: string;
  let now = 0;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'titles-'));
    mkdirSync(path.join(folder, 'chatSessions'));
    now += 100_000;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const titles = (): ConversationTitles =>
    new ConversationTitles(path.join(folder, 'extension'), () => now);
  const write = (...records: unknown[]): void =>
    writeFileSync(
      path.join(folder, 'chatSessions', `${chat}.jsonl`),
      records
        .map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`)
        .join(''),
    );
  const untilNamed = (all: ConversationTitles, conversation = chat): Promise<void> =>
    new Promise((done) => {
      const listener = all.onDidChange(() => {
        listener.dispose();
        done();
      });
      assert.equal(all.of(conversation), undefined);
    });

  const first = {
    kind: 0,
    v: { requests: [{ agent: { name: 'agent' }, message: { text: 'Fix "it"\n now' } }] },
  };

  it('the title of a chat is its first words', async () => {
    write(first);
    const all = titles();
    await untilNamed(all);
    assert.deepEqual(all.of(chat), { text: 'Fix "it" now', chat });
  });

  it('the last given title of a chat wins', async () => {
    write(
      first,
      { kind: 1, k: ['customTitle'], v: 'Old' },
      { kind: 1, k: ['customTitle'], v: 'The page' },
      '{ half',
    );
    const all = titles();
    await untilNamed(all);
    assert.equal(all.of(chat)?.text, 'The page');
  });

  it('the title of another conversation is the words it notes', async () => {
    const all = titles();
    all.note('minds-1', ' What is\nnew? ');
    assert.deepEqual(all.of('minds-1'), { text: 'What is new?' });
  });

  it('an unreadable chat has no title, and no name leads out of the folder', async () => {
    const all = titles();
    for (const conversation of [chat, '../../etc/passwd', `../${chat}`, ''])
      assert.equal(all.of(conversation), undefined);
    assert.equal(new ConversationTitles(undefined, () => now).of(chat), undefined);
  });
});
