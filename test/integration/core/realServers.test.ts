/** Servers of the protocol's own project: published, filtered, renamed and called. */
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repository } from '../../support/core/bundles.js';
import { http, officialServer, type Entry } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

describe('core: servers from the registry', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage({ trace: true });
  });

  afterEach(endStages);

  it('Three registry servers are filtered, renamed and called, in file order', async () => {
    await stage.edit({
      everything: officialServer('everything', [], {
        tools: { whitelist: ['echo', 'get-*'], blacklist: ['get-env', '*'] },
        transform: [{ prefix: { remove: 'get-', add: 'everything_' } }],
      }),
      files: officialServer('filesystem', [stage.folder], {
        tools: { blacklist: ['write_*', 'edit_*', 'move_*', 'create_*'] },
        transform: [{ prefix: 'files_' }],
      }),
      memory: officialServer('memory', [], {
        env: { MEMORY_FILE_PATH: path.join(stage.folder, 'memory.jsonl') },
        tools: { whitelist: ['create_entities', 'read_graph'] },
        transform: [{ suffix: '_v2' }],
      }),
    });
    assert.deepEqual(stage.publishedBy('everything'), [
      'everything_echo',
      'everything_annotated-message',
      'everything_env',
      'everything_resource-links',
      'everything_resource-reference',
      'everything_structured-content',
      'everything_sum',
      'everything_tiny-image',
    ]);
    assert.deepEqual(stage.publishedBy('files'), [
      'files_read_file',
      'files_read_text_file',
      'files_read_media_file',
      'files_read_multiple_files',
      'files_list_directory',
      'files_list_directory_with_sizes',
      'files_directory_tree',
      'files_search_files',
      'files_get_file_info',
      'files_list_allowed_directories',
    ]);
    assert.deepEqual(stage.publishedBy('memory'), ['create_entities_v2', 'read_graph_v2']);
    assert.deepEqual(
      stage.toolsets().map(({ id }) => id),
      ['everything', 'files', 'memory'],
    );
    // The whitelist has `get-*`, so `get-env` in the blacklist removes nothing.
    assert.deepEqual(stage.problems(), ['pattern-overruled "get-env"']);
    for (const id of ['everything', 'files', 'memory'])
      assert.equal(stage.server(id).state.kind, 'running');

    writeFileSync(path.join(stage.folder, 'hello.txt'), 'hello from the workspace');
    const entities = [
      { name: 'Ada', entityType: 'person', observations: ['wrote the first program'] },
    ];
    const [echoed, sum, read, created] = await Promise.all([
      stage.text('everything', 'everything_echo', { message: 'hi' }),
      stage.text('everything', 'everything_sum', { a: 2, b: 3 }),
      stage.text('files', 'files_read_text_file', { path: path.join(stage.folder, 'hello.txt') }),
      stage.text('memory', 'create_entities_v2', { entities }),
    ]);
    assert.equal(echoed, 'Echo: hi');
    assert.match(sum, /5/);
    assert.equal(read, 'hello from the workspace');
    assert.match(created, /Ada/);
    assert.match(
      readFileSync(path.join(stage.folder, 'memory.jsonl'), 'utf8'),
      /wrote the first program/,
    );
    assert.match(await stage.text('memory', 'read_graph_v2'), /Ada/);
    assert.match(
      await stage.failure('files', 'files_read_text_file', { path: '/etc/hostname' }),
      /Access denied/,
    );
  });

  it('Results arrive whole, with progress and cancellation of a long operation', async () => {
    await stage.edit({ everything: officialServer('everything') });
    const image = await stage.result('everything', 'get-tiny-image');
    assert.ok(image.content.some((part) => part.type === 'image' && part.mimeType === 'image/png'));
    const links = await stage.result('everything', 'get-resource-links', { count: 3 });
    assert.equal(links.content.filter(({ type }) => type === 'resource_link').length, 3);
    const structured = await stage.result('everything', 'get-structured-content', {
      location: 'Chicago',
    });
    assert.equal(typeof structured.structuredContent?.['temperature'], 'number');

    const seen: number[] = [];
    const operation = { duration: 0.2, steps: 4 };
    await stage.text('everything', 'trigger-long-running-operation', operation, {
      onProgress: ({ progress, total }) => {
        assert.equal(total, 4);
        seen.push(progress);
      },
    });
    assert.deepEqual(seen, [1, 2, 3, 4]);
    const cancel = new AbortController();
    const endless = { duration: 600, steps: 12_000 };
    const outcome = await stage.outcome('everything', 'trigger-long-running-operation', endless, {
      signal: cancel.signal,
      onProgress: () => cancel.abort(),
    });
    assert.deepEqual(outcome, { kind: 'cancelled' });
    assert.match(stage.logs.text('everything'), /notifications\/cancelled/);
    assert.equal(
      await stage.text('everything', 'echo', { message: 'still here' }),
      'Echo: still here',
    );
  });

  it('Three registry servers run behind npx without a network', async () => {
    symlinkSync(path.join(repository, 'node_modules'), path.join(stage.folder, 'node_modules'));
    const npx = (...args: string[]): Entry => ({
      transport: 'stdio',
      command: 'npx',
      args: ['--offline', '-y', ...args],
      env: {
        npm_config_cache: path.join(stage.folder, 'npm-cache'),
        npm_config_update_notifier: 'false',
      },
    });
    await stage.edit({
      everything: npx('@modelcontextprotocol/server-everything'),
      files: npx('@modelcontextprotocol/server-filesystem', '.'),
      memory: npx('@modelcontextprotocol/server-memory'),
    });
    assert.deepEqual(stage.problems(), []);
    assert.equal(
      await stage.text('everything', 'echo', { message: 'through npx' }),
      'Echo: through npx',
    );
    assert.match(await stage.text('files', 'list_directory', { path: '.' }), /\.minds/);
    assert.match(await stage.text('memory', 'search_nodes', { query: 'nobody' }), /entities/);
    // npx, its shell and the server, three times, and the guardian.
    assert.ok(stage.processes().length >= 7, JSON.stringify(stage.processes()));
  });

  for (const mode of ['streamableHttp', 'sse'] as const) {
    it(`server-everything works over HTTP, ${mode}`, async () => {
      const { url } = await stage.everything(mode);
      await stage.edit({
        everything: http(url, {
          tools: { whitelist: ['echo', 'trigger*'] },
          transform: [{ prefix: 'far_' }],
        }),
      });
      assert.deepEqual(stage.published(), [
        'everything/far_echo',
        'everything/far_trigger-long-running-operation',
      ]);
      assert.deepEqual(stage.problems(), []);
      assert.equal(await stage.text('everything', 'far_echo', { message: mode }), `Echo: ${mode}`);
      const seen: number[] = [];
      const operation = { duration: 0.2, steps: 4 };
      await stage.text('everything', 'far_trigger-long-running-operation', operation, {
        onProgress: ({ progress }) => seen.push(progress),
      });
      assert.deepEqual(seen, [1, 2, 3, 4]);
      const cancel = new AbortController();
      const endless = { duration: 600, steps: 12_000 };
      const outcome = await stage.outcome(
        'everything',
        'far_trigger-long-running-operation',
        endless,
        {
          signal: cancel.signal,
          onProgress: () => cancel.abort(),
        },
      );
      assert.deepEqual(outcome, { kind: 'cancelled' });
      assert.equal(await stage.text('everything', 'far_echo', { message: 'after' }), 'Echo: after');
    });
  }
});
