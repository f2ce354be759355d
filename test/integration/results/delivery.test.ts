/** Results on their whole way: real server, engine, gateway, client and files (V2). */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fixture } from '../../support/core/configText.js';
import { keepResults } from '../../support/core/keptResults.js';
import { endStages, startStage, textOf, type Stage } from '../../support/core/stage.js';
import { within } from '../../support/core/within.js';
import { RawClient } from '../gateway/rawClient.js';

const secret = 'canary-5f3a9c71';

describe('results: through the gateway', () => {
  let stage: Stage;
  let storage: string;
  let maxResultBytes: number;
  let quota: number;
  let settled: () => Promise<void>;
  let connect: (kind: 'editor' | 'agent') => Promise<RawClient>;

  beforeEach(async () => {
    stage = await startStage({ env: { SHOP_TOKEN: secret } });
    maxResultBytes = 1 << 20;
    quota = 200 << 20;
    const kept = keepResults(stage, { maxResultBytes: () => maxResultBytes, quota: () => quota });
    ({ folder: storage, settled } = kept);
    const gateway = await stage.gateway({ delivery: kept.delivery });
    const clients: RawClient[] = [];
    stage.onDispose(() => {
      for (const client of clients) client.close();
      return Promise.resolve();
    });
    connect = async (kind) => {
      const client = new RawClient(gateway.endpoint('shop', kind));
      clients.push(client);
      await client.initialize();
      return client;
    };
    await stage.edit({
      shop: fixture('plain', [], {
        'truely-stateless': true,
        env: { TOKEN: { env: 'SHOP_TOKEN' } },
        transform: [{ prefix: 'shop_' }],
      }),
    });
  });

  afterEach(endStages);

  async function call(client: RawClient, name: string, args: object = {}): Promise<CallToolResult> {
    const { result, error } = await within(
      client.ask('tools/call', { name, arguments: args }),
      `the answer of ${name}`,
    );
    assert.ok(result, JSON.stringify(error));
    return result as CallToolResult;
  }

  /** Sorted paths below the storage folder. */
  function files(): string[] {
    if (!existsSync(storage)) return [];
    return readdirSync(storage, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(path.join(storage, name)).isFile())
      .map((name) => name.split(path.sep).join('/'))
      .sort();
  }

  function pathsIn(text: string): string[] {
    return [...text.matchAll(/(?:Saved as|is in) (.+?)\]/g)].map(([, file]) => file ?? '');
  }

  it('The editor gets every kind of content readable, with the paths of the files', async () => {
    const result = await call(await connect('editor'), 'content', { token: secret });
    const text = textOf(result);
    assert.deepEqual(text.replaceAll(/(?<=Saved as ).+?(?=\.\w+\])/g, '…').split('\n'), [
      'some text',
      '[Image: image/png, 70 bytes. Saved as ….png]',
      '(image)',
      '[Audio: audio/wav, 44 bytes. Saved as ….wav]',
      'Resource test://embedded/text (text/plain):',
      'embedded text',
      '[Resource test://embedded/blob: application/octet-stream, 3 bytes. Saved as ….bin]',
      '(resource_link)',
      'Resource link "linked": test://linked (text/plain)',
      'A link.',
    ]);
    const [png = '', wav = '', bin = ''] = pathsIn(text);
    const image = result.content.find((part) => part.type === 'image');
    assert.equal(image?.data, readFileSync(png).toString('base64'));
    assert.equal(readFileSync(wav).subarray(0, 4).toString(), 'RIFF');
    assert.deepEqual([...readFileSync(bin)], [0, 1, 2]);
  });

  it('Result files are named by server, published tool and time, without arguments or secrets (E4)', async () => {
    await call(await connect('editor'), 'content', { token: secret });
    await call(await connect('agent'), 'shop_content', { token: secret });
    const name =
      /^artifacts\/mcp\/shop\/shop_content\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-[0-9a-f-]{36}\.(png|wav|bin)$/;
    assert.equal(files().length, 6);
    for (const file of files()) assert.match(file, name);
    assert.doesNotMatch(stage.logs.text(), new RegExp(secret));
  });

  it('Other clients get the result unchanged at any length', async () => {
    const client = await connect('agent');
    maxResultBytes = 1_024;
    const given = await stage.result('shop', 'shop_content');
    assert.deepEqual(await call(client, 'shop_content'), given);
    assert.equal(files().length, 3);
    assert.equal(textOf(await call(client, 'shop_large', { bytes: 100_000 })).length, 100_000);
    assert.equal(files().length, 3);
  });

  it('A long text goes to a file, and the limit is read at each result', async () => {
    const client = await connect('editor');
    assert.equal(textOf(await call(client, 'large', { bytes: 1 << 20 })).length, 1 << 20);
    assert.deepEqual(files(), []);
    const text = textOf(await call(client, 'large', { bytes: (1 << 20) + 1 }));
    assert.match(
      text,
      /^x{4096}\n\n\[1\.0 MB of 1\.0 MB left out here, over the limit of 1\.0 MB\. All of it is in .+\]\n\nx{2048}$/,
    );
    assert.equal(readFileSync(pathsIn(text)[0] ?? '', 'utf8'), 'x'.repeat((1 << 20) + 1));
    maxResultBytes = 10_000;
    assert.match(
      textOf(await call(client, 'large', { bytes: 20_000 })),
      /over the limit of 10\.0 kB/,
    );
    assert.equal(files().length, 2);
  });

  it('12 MB arrive as a short text and a whole file, and pings are answered at the same time', async () => {
    const client = await connect('editor');
    const other = await connect('editor');
    let answered = false;
    let pings = 0;
    const called = call(client, 'large', { bytes: 12_000_000 }).finally(() => (answered = true));
    while (!answered) {
      await within(other.ask('ping'), 'the answer of a ping');
      pings += 1;
    }
    const text = textOf(await called);
    assert.ok(text.length < 8_192);
    assert.ok(pings > 5, `${pings} pings`);
    assert.equal(statSync(pathsIn(text)[0] ?? '').size, 12_000_000);
  });

  it('Parallel results keep to the quota and have separate files', async () => {
    const client = await connect('editor');
    maxResultBytes = 1_024;
    // A file of 10,000 bytes takes three blocks of 4 KiB.
    quota = 62_000;
    const texts = await Promise.all(
      Array.from({ length: 20 }, async () =>
        textOf(await call(client, 'large', { bytes: 10_000 })),
      ),
    );
    await settled();
    const named = new Set(texts.flatMap(pathsIn));
    assert.equal(named.size, 20);
    assert.equal(files().length, 5);
    for (const file of files()) assert.ok(named.has(path.join(storage, file)), file);
  });

  it('Results arrive and say so if no file can be written', async () => {
    writeFileSync(storage, 'in the way');
    const client = await connect('editor');
    const content = await call(client, 'content');
    assert.equal(
      textOf(content).match(
        /Not saved: (?:a folder of its path is a file|another file is in its place)/g,
      )?.length,
      3,
    );
    assert.ok(content.content.some(({ type }) => type === 'image'));
    maxResultBytes = 1_024;
    assert.match(
      textOf(await call(client, 'large', { bytes: 5_000 })),
      /^x{512}\n\n\[4\.2 kB of .+ It was not saved: .+\]\n\nx{256}$/,
    );
    assert.match(stage.logs.text(), /host \[warn\] A file of shop\/shop_content was not saved in /);
  });

  it('Errors of a tool stay tool errors, and protocol errors stay protocol errors', async () => {
    const client = await connect('editor');
    maxResultBytes = 1_024;
    const failed = await call(client, 'fail', { text: 'f'.repeat(5_000) });
    assert.equal(failed.isError, true);
    assert.match(textOf(failed), /^Error: fff[^]+All of it is in .+\.txt\]/);
    const { error } = await client.ask('tools/call', {
      name: 'throw',
      arguments: { code: -32001, text: 'not now' },
    });
    assert.equal((error as { message: string }).message, 'not now');
  });
});
