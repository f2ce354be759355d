/** Entered secrets (C2a): one store for all windows, and a copy in memory. */
import assert from 'node:assert/strict';
import { Emitter, nextEvent } from '../../../../src/core/base/events.js';
import { EnteredSecrets } from '../../../../src/vscode/engine/enteredSecrets.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';

/** The secret storage of the editor, shared by all windows. */
class Storage {
  readonly entries = new Map<string, string>();
  readonly changes = new Emitter<{ readonly key: string }>();
  readonly onDidChange = this.changes.event;
  failure: Error | undefined;
  /** While it exists, the storage waits for a person to unlock it. */
  unlocked: Promise<void> | undefined;

  async get(key: string): Promise<string | undefined> {
    await this.unlocked;
    return this.failure ? Promise.reject(this.failure) : Promise.resolve(this.entries.get(key));
  }

  store(key: string, value: string): Promise<void> {
    this.entries.set(key, value);
    this.changes.fire({ key });
    return Promise.resolve();
  }

  delete(): Promise<void> {
    return Promise.resolve();
  }
}

describe('entered secrets (C2a)', () => {
  const open: EnteredSecrets[] = [];
  const failures: unknown[] = [];
  const clock = new FakeClock();
  const window = (storage: Storage): EnteredSecrets => {
    const secrets = new EnteredSecrets(storage, clock, (error) => failures.push(error));
    open.push(secrets);
    return secrets;
  };

  afterEach(() => {
    for (const secrets of open.splice(0)) secrets.dispose();
    failures.length = 0;
  });

  it('entered secrets replace a stored text that is not JSON, which is reported', async () => {
    const storage = new Storage();
    storage.entries.set('mcpToolsets.secrets', '{ "KEY": ');
    const secrets = window(storage);
    await secrets.load();
    assert.equal(failures.length, 1);
    await secrets.set('KEY', 'one');
    assert.equal(secrets.get('KEY'), 'one');
    assert.deepEqual(JSON.parse(storage.entries.get('mcpToolsets.secrets') ?? ''), { KEY: 'one' });
  });

  it('entered secrets are stored, and known in this window and in later ones', async () => {
    const storage = new Storage();
    const secrets = window(storage);
    await secrets.set('KEY', 'one');
    assert.equal(secrets.get('KEY'), 'one');
    const later = window(storage);
    assert.equal(later.get('KEY'), undefined);
    await later.load();
    assert.equal(later.get('KEY'), 'one');
    assert.equal(later.get('OTHER'), undefined);
  });

  it('entered secrets follow another window, with one event for each change', async () => {
    const storage = new Storage();
    const [here, there] = [window(storage), window(storage)];
    let told = 0;
    const changed = new Promise<void>((resolve) => {
      there.onDidChange(() => {
        told++;
        resolve();
      });
    });
    await here.set('KEY', 'one');
    await changed;
    assert.equal(there.get('KEY'), 'one');
    await there.load();
    await there.set('KEY', 'one');
    assert.equal(told, 1);
  });

  it('entered secrets keep values that another window stores at the same time', async () => {
    const storage = new Storage();
    const [here, there] = [window(storage), window(storage)];
    await Promise.all([here.set('A', 'a'), here.set('B', 'b')]);
    await there.set('C', 'c');
    await here.load();
    assert.deepEqual(
      ['A', 'B', 'C'].map((name) => here.get(name)),
      ['a', 'b', 'c'],
    );
  });

  it('there are no entered secrets until the storage answers (C2a)', async () => {
    const storage = new Storage();
    await window(storage).set('KEY', 'one');
    let unlock = (): void => {};
    storage.unlocked = new Promise((resolve) => (unlock = resolve));
    const secrets = window(storage);
    const changed = nextEvent(secrets.onDidChange, () => true);
    const loaded = secrets.load();
    clock.advance(3_000);
    await loaded;
    assert.equal(secrets.get('KEY'), undefined);
    assert.match(String(failures), /did not answer/);
    unlock();
    await changed;
    assert.equal(secrets.get('KEY'), 'one');
    assert.equal(clock.pending, 0);
  });

  it('setting a secret to undefined removes it', async () => {
    const storage = new Storage();
    const secrets = window(storage);
    await secrets.set('KEY', 'one');
    await secrets.set('KEY', undefined);
    assert.equal(secrets.get('KEY'), undefined);
    assert.ok([...storage.entries.values()].every((text) => !text.includes('one')));
  });

  it('there are no entered secrets if the storage cannot be read, and a failure to store rejects', async () => {
    const storage = new Storage();
    const secrets = window(storage);
    storage.failure = new Error('no keyring');
    await secrets.load();
    assert.equal(failures.length, 1);
    await assert.rejects(secrets.set('KEY', 'one'), /no keyring/);
    storage.failure = undefined;
    await secrets.set('KEY', 'two');
    assert.equal(secrets.get('KEY'), 'two');
  });
});
