/** Rules X3, R6: long, odd and changing lists of tools. */
import assert from 'node:assert/strict';
import { ListError } from '../../../src/core/connections/connection.js';
import { posixIt } from '../../support/notHere.js';
import { callTool, fixture, http, once, Rig, stdio } from './rig.js';
import { wasKilled } from '../../support/processes.js';

const listOptions = (): { signal: AbortSignal; timeoutMs: number } => ({
  signal: new AbortController().signal,
  timeoutMs: 10_000,
});

describe('listings of tools', function () {
  this.timeout(60_000);
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.end());

  it('a listing has every page in order', async () => {
    const { listing, connection } = await rig.start(
      fixture('pages', '--pages', '40', '--tools-per-page', '7'),
    );
    const expected = Array.from({ length: 280 }, (_, n) => `tool_${n}`);
    assert.deepEqual(
      listing.tools.map(({ name }) => name),
      expected,
    );
    assert.equal((await connection.listTools(listOptions())).tools.length, 280);
  });

  it('a listing has at most 10,000 tools', async () => {
    const { listing } = await rig.start(
      fixture('pages', '--pages', '10', '--tools-per-page', '1000', '--output-schemas'),
    );
    assert.equal(listing.tools.length, 10_000);
    const tooMany = fixture('pages', '--pages', '1', '--tools-per-page', '10001');
    const { listing: part } = await rig.start(tooMany);
    assert.equal(part.tools.length, 10_000);
    assert.match(part.incomplete ?? '', /lists more than 10000 tools\.$/);
  });

  for (const [args, why] of [
    [['--repeat'], /^tools\/list repeats the cursor "page-1" after 5 pages/],
    [['--endless', '--tools-per-page', '1'], /^tools\/list has more than 1000 pages\.$/],
    [['--error-on-page', '3'], /^tools\/list failed: page 3 is not available$/],
  ] as const)
    it(`a listing has the tools of the pages before the fault: ${args.join(' ')} (X3)`, async () => {
      const { listing } = await rig.start(fixture('pages', ...args));
      assert.ok(listing.tools.length > 0);
      assert.match(listing.incomplete ?? '', why);
    });

  it('a listing fails if its first page fails', async () => {
    const failure = await rig.failure(fixture('pages', '--error-on-page', '0'));
    assert.equal(failure.code, 'list-failed');
    assert.match(failure.message, /tools\/list failed: page 0 is not available$/);
  });

  it('a listing reports malformed entries and keeps the others', async () => {
    const { listing } = await rig.start(fixture('odd-tools', '--kind', 'malformed'));
    assert.deepEqual(
      listing.tools.map(({ name }) => name),
      ['first', 'last'],
    );
    assert.deepEqual(listing.malformed, [
      { name: 'entry 2', detail: 'is `null`, not an object' },
      { name: 'entry 3', detail: 'is `7`, not an object' },
      { name: 'entry 4', detail: 'has no name' },
      { name: 'entry 5', detail: 'has an empty name' },
      { name: 'no_schema', detail: 'has no inputSchema' },
    ]);
  });

  it('null counts as absent in a listed tool', async () => {
    const { listing } = await rig.start(fixture('odd-tools', '--kind', 'nulls'));
    assert.deepEqual(listing.tools[1], {
      name: 'nulls',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    });
    assert.deepEqual(listing.malformed, []);
  });

  it('a listing keeps odd names, duplicates and odd schemas, because later steps judge them', async () => {
    const { listing } = await rig.start(fixture('odd-tools', '--kind', 'duplicate,names,schema'));
    const names = listing.tools.map(({ name }) => name);
    assert.deepEqual(names.slice(1, 3), ['twin', 'twin']);
    assert(
      ['x'.repeat(64), 'y'.repeat(65), 'with.dots', 'a/b', 'größe', 'string_schema'].every((name) =>
        names.includes(name),
      ),
    );
    assert.deepEqual(listing.malformed, [
      { name: 'list_schema', detail: 'has an inputSchema that is not an object' },
    ]);
  });

  it('a listing keeps every schema keyword and unknown key', async () => {
    const { listing } = await rig.start(fixture('odd-tools', '--kind', 'keywords'));
    const tool = listing.tools[1] as unknown as Record<string, Record<string, unknown>>;
    assert.deepEqual(Object.keys(tool), [
      'name',
      'description',
      'inputSchema',
      'x-unknown',
      'execution',
      'icons',
    ]);
    assert.deepEqual(tool['inputSchema']?.['dependentRequired'], { tuple: ['name'] });
    assert.deepEqual((tool['inputSchema']?.['properties'] as Record<string, unknown>)['tuple'], {
      type: 'array',
      prefixItems: [{ const: 1 }],
      items: false,
      'x-vendor': { kept: true },
    });
  });

  it('a listing fails if the answer has no list', async () => {
    const map = await rig.failure(fixture('odd-tools', '--kind', 'not-a-list'));
    assert.match(
      map.message,
      /The answer to tools\/list has no list of tools: \{"tools":\{"first"/,
    );
    const nothing = await rig.failure(fixture('odd-tools', '--kind', 'null-list'));
    assert.match(
      nothing.message,
      /tools\/list failed: The answer has a result that is not an object: null$/,
    );
  });

  it('the listing of a server without tools is empty, and sends no request', async () => {
    const { listing, connection } = await rig.start(
      fixture('wrong-initialize', '--kind', 'no-tools'),
    );
    assert.deepEqual(listing, {
      tools: [],
      malformed: [],
      declaresNone: true,
      prompts: { prompts: [], malformed: [] },
    });
    assert.equal(connection.capabilities.tools, undefined);
  });

  it('a listing is repeated if the tools change during it', async () => {
    const { listing } = await rig.start(fixture('changes-tools', '--while-listing'));
    assert(listing.tools.some(({ name }) => name === 'late'));
  });

  it('the first listener gets a change that arrived with the last list', async () => {
    const program = `
      let lists = 0;
      const write = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
      const answer = ({ id, method, params }) => {
        const serverInfo = { name: 'x', version: '1' };
        if (method === 'initialize') write({ id, result: { ...params, capabilities: { tools: {} }, serverInfo } });
        if (method !== 'tools/list') return;
        lists += 1;
        if (lists < 6) write({ method: 'notifications/tools/list_changed' });
        write({ id, result: { tools: [{ name: 'list_' + lists, inputSchema: { type: 'object' } }] } });
      };
      process.stdin.on('data', (lines) => {
        for (const line of String(lines).trim().split('\\n')) answer(JSON.parse(line));
      });`;
    const { connection, listing } = await rig.start(stdio(process.execPath, ['-e', program]));
    assert.equal(listing.tools[0]?.name, 'list_3');
    await once(connection.onDidChangeOffer);
    assert.equal((await connection.listTools(listOptions())).tools[0]?.name, 'list_4');
  });

  it('every change of the list is reported, even a hundred at once', async () => {
    const { connection } = await rig.start(fixture('changes-tools'));
    let changes = 0;
    connection.onDidChangeOffer(() => (changes += 1));
    await callTool(connection, 'grow');
    assert.equal(changes, 1);
    assert(
      (await connection.listTools(listOptions())).tools.some(({ name }) => name === 'extra_1'),
    );
    await callTool(connection, 'storm', { times: 100 });
    assert.equal(changes, 101);
    await callTool(connection, 'break');
    await assert.rejects(
      connection.listTools(listOptions()),
      (error) =>
        error instanceof ListError &&
        error.message === 'tools/list failed: the catalogue is being rebuilt',
    );
    assert((await connection.listTools(listOptions())).tools.length > 0);
  });

  it('a change of the list is reported over HTTP', async () => {
    const { url } = await rig.listen('http');
    const { connection } = await rig.start(http(url));
    const changed = once(connection.onDidChangeOffer);
    await callTool(connection, 'grow');
    await changed;
  });

  posixIt('Windows has no signals')(
    'a listing has a time limit, and can be cancelled',
    async () => {
      const { connection } = await rig.start(fixture('raw'));
      assert(connection.pid !== undefined);
      process.kill(connection.pid, 'SIGSTOP');
      await assert.rejects(connection.listTools({ ...listOptions(), timeoutMs: 100 }), {
        name: 'ListError',
        message: 'The server did not list its tools within 0.1 s.',
      });
      const controller = new AbortController();
      const listing = connection.listTools({ ...listOptions(), signal: controller.signal });
      controller.abort(new Error('not wanted any more'));
      await assert.rejects(listing, { message: 'not wanted any more' });
      const dying = connection.listTools(listOptions());
      process.kill(connection.pid, 'SIGKILL');
      await assert.rejects(dying, {
        name: 'ListError',
        message: `The connection ended while it listed its tools. The server process ${wasKilled}`,
      });
    },
  );
});
