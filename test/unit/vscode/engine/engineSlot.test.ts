import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/core/base/events.js';
import { silentLog } from '../../../support/fakes/silentLog.js';
import type { SourceText } from '../../../../src/core/config/model.js';
import type { StatusSnapshot } from '../../../../src/core/reconcile/status.js';
import type { ShellEngine as Engine } from '../../../../src/vscode/engine/engine.js';
import type { ConfigSources } from '../../../../src/core/engine/configFiles.js';
import { EngineSlot, type WindowState } from '../../../../src/vscode/engine/engineSlot.js';
import { rest } from '../../../support/fakes/fakeClock.js';
import { file, problem, snapshot, status } from '../views/statuses.js';

class FakeFiles implements ConfigSources {
  private readonly emitter = new Emitter<readonly SourceText[]>();
  sources: readonly SourceText[] | undefined;
  disposed = false;
  /** The text on the disk without an event yet. */
  unread: string | undefined;
  readonly onDidChange = this.emitter.event;

  set(text: string | undefined, changes: Partial<SourceText> = {}): void {
    this.sources = [{ file, folder: '/folder', text, ...changes }];
    this.emitter.fire(this.sources);
  }
  readNow(): Promise<void> {
    this.set(this.unread);
    return Promise.resolve();
  }
  dispose(): void {
    this.disposed = true;
  }
}

class FakeEngine {
  readonly given: (string | undefined)[] = [];
  readonly changes = new Emitter<StatusSnapshot>();
  disposed = false;
  upcoming: StatusSnapshot | undefined;
  host = {
    snapshot: snapshot([]),
    onDidChange: this.changes.event,
  };
  use = { onDidChange: new Emitter<void>().event, problems: () => [] };
  private take(sources: readonly SourceText[]): void {
    this.given.push(sources[0]?.text);
    // Like the host: its snapshot changes a moment later.
    queueMicrotask(() => {
      if (this.upcoming) this.host.snapshot = this.upcoming;
      this.changes.fire(this.host.snapshot);
    });
  }
  follow(files: ConfigSources): void {
    files.onDidChange((sources) => this.take(sources));
    this.take(files.sources ?? []);
  }
  dispose = async (): Promise<void> => void (this.disposed = true);
}

describe('EngineSlot', () => {
  let trusted: boolean;
  let files: FakeFiles;
  let opened: number;
  let loads: number;
  let engine: FakeEngine;
  let load: () => Promise<Engine>;
  let slot: EngineSlot;
  let heard: WindowState[];

  beforeEach(() => {
    trusted = true;
    files = new FakeFiles();
    opened = 0;
    loads = 0;
    engine = new FakeEngine();
    load = async () => engine as unknown as Engine;
    slot = new EngineSlot({
      log: silentLog,
      isTrusted: () => trusted,
      openConfigFiles: () => (opened++, files),
      loadEngine: () => (loads++, load()),
      onFailure: () => {},
    });
    heard = [];
    slot.onDidChange((state) => heard.push(state));
  });

  afterEach(() => slot.dispose());

  it('reads and loads nothing before the workspace is trusted', async () => {
    trusted = false;
    slot.start();
    await rest();
    assert.deepEqual([opened, loads, slot.state.phase], [0, 0, 'untrusted']);
    trusted = true;
    slot.start();
    files.set('version: 1');
    await rest();
    assert.deepEqual([opened, loads, slot.state.phase], [1, 1, 'serving']);
  });

  it('loads the engine once, with the first file', async () => {
    slot.start();
    files.set(undefined);
    await rest();
    assert.deepEqual([loads, slot.state.phase], [0, 'noFile']);
    files.set('a');
    files.set('b');
    await rest();
    files.set('c');
    await rest();
    assert.equal(loads, 1);
    assert.deepEqual(engine.given, ['b', 'c']);
  });

  it('gives the engine the present text of the files on request', async () => {
    slot.start();
    files.set('a');
    await rest();
    files.unread = 'b';
    await files.readNow();
    assert.deepEqual(engine.given, ['a', 'b']);
  });

  it('tells the engine that a file was deleted', async () => {
    slot.start();
    files.set('a');
    await rest();
    files.set(undefined);
    await rest();
    assert.deepEqual(engine.given, ['a', undefined]);
    assert.equal(slot.state.phase, 'noFile');
  });

  it('distinguishes the phases', async () => {
    slot.start();
    await rest();
    assert.equal(slot.state.phase, 'reading');
    files.set(undefined, { origin: 'user' });
    await rest();
    assert.equal(slot.state.phase, 'noFolder');
    files.set(undefined, { unreadable: 'permission denied' });
    await rest();
    assert.equal(slot.state.phase, 'serving');
  });

  it('is in the phase “reading” until the engine has read the files', async () => {
    let finish: (engine: Engine) => void = () => {};
    load = () => new Promise((resolve) => (finish = resolve));
    const asked: string[] = [];
    slot.observe((phase) => (asked.push(phase), []));
    slot.start();
    files.set('a');
    await rest();
    assert.deepEqual([slot.state.phase, engine.given], ['reading', []]);
    engine.upcoming = snapshot([status('demo')]);
    finish(engine as unknown as Engine);
    await rest();
    assert.deepEqual([slot.state.phase, engine.given], ['serving', ['a']]);
    const serving = heard.filter(({ phase }) => phase === 'serving');
    assert.ok(serving.length > 0 && serving.every((state) => state.snapshot.servers.length === 1));
    assert.equal(asked.at(-1), 'serving', 'what the shell sees belongs to the phase that begins');
  });

  it('adds problems of the shell to the problems of the core', async () => {
    let hidden = [problem({ code: 'editor-toolset-hidden' })];
    slot.observe(() => hidden);
    slot.start();
    files.set('a');
    await rest();
    engine.host.snapshot = snapshot([status('demo')], { problems: [problem()] });
    engine.changes.fire(engine.host.snapshot);
    await rest();
    assert.deepEqual(
      slot.state.snapshot.problems.map(({ code }) => code),
      ['env-unset', 'editor-toolset-hidden'],
    );
    hidden = [];
    slot.refresh();
    await rest();
    assert.equal(slot.state.snapshot.problems.length, 1);
  });

  it('reports an unreadable file until the engine has read the files, which reports it then', async () => {
    slot.start();
    files.set(undefined, { unreadable: 'permission denied' });
    await rest();
    const codes = (): string[] => slot.state.snapshot.problems.map(({ code }) => code);
    assert.deepEqual(codes(), ['file-unreadable']);
    files.set('a', { unreadable: 'permission denied' });
    await rest();
    assert.deepEqual(codes(), []);
  });

  it('combines simultaneous changes into one event', async () => {
    slot.start();
    files.set('a');
    await rest();
    heard.length = 0;
    slot.refresh();
    slot.refresh();
    engine.changes.fire(engine.host.snapshot);
    await rest();
    assert.equal(heard.length, 1);
  });

  it('survives an engine that cannot be loaded', async () => {
    load = () => Promise.reject(new Error('broken'));
    slot.start();
    files.set('a');
    await rest();
    assert.equal(slot.engine, undefined);
    assert.equal(slot.state.phase, 'serving');
    await slot.dispose();
  });

  it('ends an engine that is still loading', async () => {
    let finish: (engine: Engine) => void = () => {};
    load = () => new Promise((resolve) => (finish = resolve));
    slot.start();
    files.set('a');
    const end = slot.dispose();
    finish(engine as unknown as Engine);
    await end;
    assert.deepEqual([engine.disposed, files.disposed, engine.given], [true, true, []]);
  });
});
