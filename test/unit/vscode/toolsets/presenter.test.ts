import assert from 'node:assert/strict';
import { silentLog } from '../../../support/fakes/silentLog.js';
import type { Rival } from '../../../../src/vscode/toolsets/presence.js';
import { Presenter, type PresentingEditor } from '../../../../src/vscode/toolsets/presenter.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { problem, toolset } from '../views/statuses.js';

/** An editor with 500 ms until it knows a definition. It shows tools after a start. */
class FakeStage implements PresentingEditor {
  readonly names = new Set<string>();
  readonly connections = new Set<string>();
  readonly starts: string[] = [];
  rivalsFound: readonly Rival[] = [];
  off: string | undefined;
  /** Runs at each start. */
  onStart: (label: string) => Promise<void> = () => Promise.resolve();

  toolNames(): ReadonlySet<string> {
    return this.names;
  }
  startServer(label: string): Promise<void> {
    this.starts.push(label);
    return this.onStart(label);
  }
  isConnected(label: string): boolean {
    return this.connections.has(label);
  }
  switchedOff(): string | undefined {
    return this.off;
  }
  rivals(): Promise<readonly Rival[]> {
    return Promise.resolve(this.rivalsFound);
  }
  readonly renewed: string[] = [];
  renew(label: string): void {
    this.renewed.push(label);
  }
  placeOf(): ReturnType<PresentingEditor['placeOf']> {
    return problem().place;
  }
}

describe('Presenter', () => {
  let clock: FakeClock;
  let editor: FakeStage;
  let presenter: Presenter;
  let changes: number;
  const demo = toolset('demo', 'a', 'b');

  const show = (...names: string[]): void => names.forEach((name) => editor.names.add(name));
  const messages = (): string[] => presenter.problems().map(({ message }) => message);

  beforeEach(() => {
    clock = new FakeClock();
    editor = new FakeStage();
    changes = 0;
    presenter = new Presenter({ clock, log: silentLog, editor, onChange: () => changes++ });
  });

  afterEach(() => {
    presenter.dispose();
    assert.equal(clock.pending, 0, 'no timer is left');
  });

  it('starts shown toolsets again if the editor gets another address', async () => {
    editor.onStart = () => {
      editor.connections.add('demo');
      show('mcp_demo_a', 'mcp_demo_b');
      return Promise.resolve();
    };
    presenter.expect([demo]);
    await clock.flow(1_000);
    assert.deepEqual(editor.starts, ['demo']);
    editor.names.clear();
    editor.connections.clear();
    presenter.expect([]);
    presenter.expect([demo]);
    await clock.flow(1_000);
    assert.deepEqual(editor.starts, ['demo', 'demo']);
    assert.deepEqual(messages(), []);
  });

  it('does not start a toolset that goes and comes back during a start a second time', async () => {
    let finish = (): void => {};
    editor.onStart = () => new Promise((resolve) => (finish = resolve));
    presenter.expect([demo]);
    presenter.expect([]);
    presenter.expect([demo]);
    await clock.flow(1_000);
    assert.deepEqual(editor.starts, ['demo']);
    finish();
    await clock.flow(1_000);
    assert.deepEqual(editor.starts, ['demo', 'demo']);
  });

  it('starts a toolset until the editor shows its tools, and then not again', async () => {
    const announced = clock.now();
    editor.onStart = async (label) => {
      if (clock.now() - announced < 500) return;
      editor.connections.add(label);
      show('mcp_demo_a', 'mcp_demo_b');
    };
    presenter.expect([demo]);
    await clock.flow(600);
    const { length } = editor.starts;
    assert.ok(length > 1 && length < 10, `${length} starts`);
    await clock.flow(60_000);
    assert.equal(editor.starts.length, length);
    assert.deepEqual(presenter.problems(), []);
    assert.equal(changes, 0);
  });

  it('does not mistake tools that the editor remembers for a live toolset', async () => {
    show('mcp_demo_a', 'mcp_demo_b');
    presenter.expect([demo]);
    await rest();
    assert.deepEqual(editor.starts, ['demo']);
  });

  it('renews a definition once the other server of its name is gone, because the editor keeps the prefix', async () => {
    editor.connections.add('demo');
    editor.rivalsFound = [
      { label: 'demo', file: '.vscode/mcp.json', place: problem().place, isOurs: false },
    ];
    presenter.expect([demo]);
    await clock.flow(10_000);
    assert.match(messages()[0] ?? '', /also configures an MCP server "demo"/);
    show('mcp_demo2_a', 'mcp_demo2_b');
    await clock.flow(10_000);
    assert.deepEqual(editor.renewed, [], 'the other server is still there');
    editor.rivalsFound = [];
    await clock.flow(10_000);
    assert.deepEqual(editor.renewed, ['demo']);
    await clock.flow(60_000);
    assert.deepEqual(editor.renewed, ['demo'], 'once');
    assert.match(messages()[0] ?? '', /names the tools of "demo" mcp_demo2_…/);
  });

  it('reports an entry of ours until its tools are there, under another prefix', async () => {
    editor.connections.add('demo');
    editor.rivalsFound = [
      { label: 'demo', file: '.mcp.json', place: problem().place, isOurs: true },
    ];
    presenter.expect([demo]);
    await clock.flow(10_000);
    assert.match(messages()[0] ?? '', /from the entry "demo" of \.mcp\.json/);
    show('mcp_demo2_a', 'mcp_demo2_b');
    await clock.flow(10_000);
    assert.deepEqual([messages(), editor.renewed], [[], []]);
  });

  it('starts a toolset only once at a time', async () => {
    editor.onStart = () => new Promise(() => {});
    presenter.expect([demo]);
    await clock.flow(120_000);
    assert.deepEqual(editor.starts, ['demo']);
  });

  it('gives up after a bounded number of starts, reports it, and continues to look', async () => {
    presenter.expect([demo]);
    await clock.flow(19_000);
    assert.deepEqual(messages(), []);
    await clock.flow(3_600_000);
    assert.ok(editor.starts.length <= 20, `${editor.starts.length} starts`);
    assert.match(messages()[0] ?? '', /has not connected/);
    assert.equal(changes, 1);
    editor.connections.add('demo');
    show('mcp_demo_a', 'mcp_demo_b');
    await clock.flow(10_000);
    assert.deepEqual(messages(), []);
    assert.equal(changes, 2);
  });

  it('begins again, once, if the editor takes the definitions after every start was spent', async () => {
    presenter.expect([demo]);
    await clock.flow(60_000);
    const spent = editor.starts.length;
    assert.equal(messages().length, 1);
    presenter.definitionsTaken(['other']);
    await clock.flow(60_000);
    assert.equal(editor.starts.length, spent, 'the editor was not given this one');
    presenter.definitionsTaken(['demo']);
    await clock.flow(60_000);
    const twice = editor.starts.length;
    assert.ok(twice > spent && twice <= 2 * spent, `${spent}, then ${twice} starts`);
    presenter.definitionsTaken(['demo']);
    await clock.flow(60_000);
    assert.equal(
      editor.starts.length,
      twice,
      'an editor that asks again and again starts nothing for ever',
    );
    presenter.expect([]);
    presenter.expect([demo]);
    await clock.flow(60_000);
    const thrice = editor.starts.length;
    editor.onStart = async (label) => {
      editor.connections.add(label);
      show('mcp_demo_a', 'mcp_demo_b');
    };
    presenter.definitionsTaken(['demo']);
    await clock.flow(1_000);
    assert.equal(editor.starts.length, thrice + 1, 'another address is another definition');
    assert.deepEqual(messages(), []);
  });

  it('does not start shown toolsets again when the editor takes the definitions', async () => {
    editor.connections.add('demo');
    show('mcp_demo_a', 'mcp_demo_b');
    presenter.expect([demo]);
    editor.connections.clear();
    presenter.definitionsTaken(['demo']);
    await clock.flow(60_000);
    assert.deepEqual(editor.starts, [], 'the person has stopped it');
    assert.equal(changes, 0);
  });

  it('reports tools that the editor listed and does not show, and names the cause', async () => {
    editor.connections.add('demo');
    editor.rivalsFound = [
      { label: 'Demo', file: '.vscode/mcp.json', place: problem().place, isOurs: false },
    ];
    presenter.expect([demo]);
    await clock.flow(2900);
    assert.deepEqual(messages(), []);
    await clock.flow(3000);
    assert.match(messages()[0] ?? '', /\.vscode\/mcp\.json also configures/);
    assert.deepEqual(editor.starts, []);
  });

  it('gives the editor time to take a change of tools', async () => {
    editor.connections.add('demo');
    show('mcp_demo_a', 'mcp_demo_b');
    presenter.expect([demo]);
    presenter.expect([toolset('demo', 'a', 'c')]);
    await clock.flow(1300);
    show('mcp_demo_c');
    await clock.flow(60_000);
    assert.equal(changes, 0);
    assert.deepEqual(editor.starts, []);
  });

  it('notices new tools at once after an activity of the editor', async () => {
    presenter.expect([demo]);
    await clock.flow(9000);
    assert.equal(editor.starts.length > 5, true);
    editor.connections.add('demo');
    presenter.activityChanged('demo');
    show('mcp_demo_a', 'mcp_demo_b');
    const before = editor.starts.length;
    await clock.flow(100);
    editor.connections.delete('demo');
    await clock.flow(60_000);
    assert.equal(
      editor.starts.length,
      before,
      'it was shown, so what happened then is the person’s',
    );
  });

  it('does not restart a toolset that vanished after it was shown, and reports it', async () => {
    editor.connections.add('demo');
    show('mcp_demo_a', 'mcp_demo_b');
    presenter.expect([demo]);
    editor.names.clear();
    editor.connections.clear();
    await clock.flow(60_000);
    assert.deepEqual(editor.starts, []);
    assert.equal(messages().length, 1);
    show('mcp_demo_a', 'mcp_demo_b');
    await clock.flow(10_000);
    assert.deepEqual(messages(), []);
  });

  it('reports at once that MCP is switched off, starts nothing, and tries again after a change', async () => {
    editor.off = '"chat.mcp.access" is "none"';
    presenter.expect([demo]);
    await rest();
    assert.match(messages()[0] ?? '', /chat\.mcp\.access/);
    assert.deepEqual(editor.starts, []);
    editor.off = undefined;
    editor.onStart = async (label) => {
      editor.connections.add(label);
      show('mcp_demo_a', 'mcp_demo_b');
    };
    presenter.tryAgain();
    await rest();
    assert.deepEqual(editor.starts, ['demo']);
    assert.deepEqual(messages(), []);
  });

  it('forgets the absence of a removed toolset', async () => {
    editor.connections.add('demo');
    presenter.expect([demo]);
    await clock.flow(20_000);
    assert.equal(messages().length, 1);
    presenter.expect([]);
    assert.deepEqual(messages(), []);
    assert.equal(changes, 2);
  });

  it('survives a start that fails', async () => {
    editor.onStart = () => Promise.reject(new Error('no'));
    presenter.expect([demo]);
    await clock.flow(30_000);
    assert.equal(messages().length, 1);
  });

  it('starts each toolset independently of the others', async () => {
    editor.onStart = async (label) => {
      if (label === 'bad') return new Promise(() => {});
      editor.connections.add(label);
      show('mcp_demo_a', 'mcp_demo_b');
    };
    presenter.expect([toolset('bad', 'x'), demo]);
    await clock.flow(1000);
    assert.deepEqual(editor.starts, ['bad', 'demo']);
  });
});
