import assert from 'node:assert/strict';
import { ConfigState, mergeSources } from '../../../src/core/config/read/merge.js';
import type { SourceText } from '../../../src/core/config/model.js';
import { isUserFile, sourceFiles } from '../../../src/core/config/sources.js';
import { codes, hostEnv, parse, sourceOf, configDeps } from './fixtures.js';
import { posixPath } from '../../support/places.js';

const server = (id: string, command = 'npx'): string =>
  `  ${id}:\n    transport: stdio\n    command: ${command}\n`;
const file = (...servers: string[]): string => `version: 1\nservers:\n${servers.join('')}`;
const broken = 'version: 1\nservers: [\n';

function ids(merged: { model: { servers: readonly { id: string; kind: string }[] } }): string[] {
  return merged.model.servers.map(({ id, kind }) => (kind === 'valid' ? id : `${id}!`));
}

describe('several sources as one model (C5)', () => {
  it('no source, a missing file or a file without servers gives no servers and no problems', () => {
    const state = new ConfigState();
    for (const sources of [[], [sourceOf(undefined)], [sourceOf('version: 1\n')]]) {
      assert.deepEqual(state.apply(sources, configDeps), {
        model: { servers: [], shadowed: new Map() },
        problems: [],
        refused: [],
      });
    }
  });

  it('the highest source with a limit decides, also after a mistake below it (L2c)', () => {
    const limited = (most: unknown): string =>
      `maxInstances: ${String(most)}\n${file(server('a'))}`;
    const user = { ...sourceOf(limited(9), '/home'), origin: 'user' as const };
    const state = new ConfigState();
    const limitWith = (text: string | undefined): number | undefined =>
      state.apply([sourceOf(text, '/one'), user], configDeps).model.limit?.most;
    assert.equal(limitWith(undefined), 9);
    assert.equal(limitWith(limited(3)), 3);
    assert.equal(limitWith(broken), 3, 'the text before it still counts');
    assert.equal(limitWith(file(server('a'))), 9);
  });

  it('a wrong `maxInstances` is an error at its place and costs itself, not a server (C4)', () => {
    for (const wrong of ['0', '-1', '1.5', "'8'", '[8]', 'many']) {
      const merged = new ConfigState().apply(
        [sourceOf(`maxInstances: ${wrong}\n${file(server('a'))}`)],
        configDeps,
      );
      assert.deepEqual(
        [ids(merged), merged.model.limit, codes(merged.problems)],
        [['a'], undefined, ['wrong-type']],
      );
      assert.equal(merged.problems[0]?.place.range.start.line, 0);
      assert.match(merged.problems[0]?.fix ?? '', /maxInstances: 64/);
    }
  });

  it('servers are in the order of the sources, then in the order of the file', () => {
    const sources = [
      sourceOf(file(server('z'), server('a')), '/two'),
      sourceOf(file(server('m')), '/one'),
    ];
    assert.deepEqual(ids(new ConfigState().apply(sources, configDeps)), ['z', 'a', 'm']);
  });

  it('the same id in a later folder is a problem there, and left out', () => {
    const sources = [
      sourceOf(file(server('a'), server('b')), '/one'),
      sourceOf(file(server('b'), server('c')), '/two'),
    ];
    const merged = new ConfigState().apply(sources, configDeps);
    assert.deepEqual(ids(merged), ['a', 'b', 'c']);
    assert.equal(merged.model.servers[1]?.source, '/one/.minds/mcp.yaml');
    const [problem] = merged.problems;
    assert.deepEqual(codes(merged.problems), ['id-in-other-folder']);
    assert.equal(problem?.severity, 'error');
    assert.equal(problem?.server, 'b');
    assert.deepEqual(problem?.place, {
      file: '/two/.minds/mcp.yaml',
      range: { start: { line: 2, character: 2 }, end: { line: 2, character: 3 } },
    });
    assert.deepEqual(problem?.related?.[0]?.place, {
      file: '/one/.minds/mcp.yaml',
      range: { start: { line: 5, character: 2 }, end: { line: 5, character: 3 } },
    });
  });

  it('the id is free for the later folder once the first gives it up', () => {
    const state = new ConfigState();
    const later = sourceOf(file(server('a', 'later')), '/two');
    state.apply([sourceOf(file(server('a')), '/one'), later], configDeps);
    const merged = state.apply([sourceOf(undefined, '/one'), later], configDeps);
    assert.deepEqual(ids(merged), ['a']);
    assert.equal(merged.model.servers[0]?.source, '/two/.minds/mcp.yaml');
    assert.deepEqual(merged.problems, []);
  });

  it('an invalid entry holds its id', () => {
    const sources = [
      sourceOf(file(server('a', "''")), '/one'),
      sourceOf(file(server('a')), '/two'),
    ];
    const merged = new ConfigState().apply(sources, configDeps);
    assert.deepEqual(ids(merged), ['a!']);
    assert.deepEqual(codes(merged.problems), ['wrong-type', 'id-in-other-folder']);
  });

  it('a refused file keeps its last content, and the other files are applied', () => {
    const state = new ConfigState();
    const before = state.apply(
      [sourceOf(file(server('a'))), sourceOf(file(server('b')), '/two')],
      configDeps,
    );
    const after = state.apply([sourceOf(broken), sourceOf(file(server('c')), '/two')], configDeps);
    assert.deepEqual(ids(after), ['a', 'c']);
    assert.equal(
      after.model.servers[0],
      before.model.servers[0],
      'the remembered entry is untouched',
    );
    assert.deepEqual(after.refused, ['/ws/.minds/mcp.yaml']);
    assert.ok(codes(after.problems).every((code) => code === 'yaml-syntax'));
    const mended = state.apply([sourceOf(file(server('d')))], configDeps);
    assert.deepEqual([ids(mended), mended.refused, mended.problems], [['d'], [], []]);
  });

  it('a refused file keeps its last content through several refusals and changes of the host', () => {
    const state = new ConfigState();
    const text = `${file(server('a'))}    env: { A: { env: SEARCH_TOKEN } }\n`;
    const before = state.apply([sourceOf(text)], configDeps);
    const env = { ...hostEnv, SEARCH_TOKEN: undefined };
    for (const refusedText of [broken, '', 'servers: {}\n']) {
      const after = state.apply([sourceOf(refusedText)], { ...configDeps, env });
      assert.equal(after.model.servers[0], before.model.servers[0]);
      assert.ok(!codes(after.problems).includes('env-unset'));
    }
    assert.deepEqual(codes(state.apply([sourceOf(text)], { ...configDeps, env }).problems), [
      'env-unset',
    ]);
  });

  it('a file that became unreadable keeps its text, and has a problem until it is read again', () => {
    const state = new ConfigState();
    const readable = sourceOf(file(server('a')));
    const merged = state.apply([{ ...readable, unreadable: 'it is a folder' }], configDeps);
    assert.deepEqual(ids(merged), ['a']);
    assert.deepEqual(codes(merged.problems), ['file-unreadable']);
    assert.match(
      merged.problems[0]?.message ?? '',
      /it is a folder\. Its previous content stays in effect/,
    );
    assert.deepEqual(state.apply([readable], configDeps).problems, []);
  });

  it('a file refused from the beginning has no servers', () => {
    const merged = new ConfigState().apply([sourceOf(broken)], configDeps);
    assert.deepEqual([ids(merged), merged.refused], [[], ['/ws/.minds/mcp.yaml']]);
  });

  it('a deleted file is an empty config, also after a refusal', () => {
    const state = new ConfigState();
    state.apply([sourceOf(file(server('a')))], configDeps);
    state.apply([sourceOf(broken)], configDeps);
    assert.deepEqual(ids(state.apply([sourceOf(undefined)], configDeps)), []);
    assert.deepEqual(
      ids(state.apply([sourceOf(broken)], configDeps)),
      [],
      'nothing older comes back',
    );
  });

  it('a file with empty `servers` counts as a deleted one, and an empty file is refused (C1, C4)', () => {
    for (const [text, left] of [
      ['version: 1\nservers:\n', []],
      ['', ['a']],
      ['# version: 1\n', ['a']],
    ] as const) {
      const state = new ConfigState();
      state.apply([sourceOf(file(server('a')))], configDeps);
      const merged = state.apply([sourceOf(text)], configDeps);
      assert.deepEqual(ids(merged), left);
      assert.deepEqual(codes(merged.problems), left.length > 0 ? ['version-missing'] : []);
    }
  });

  it('a removed source is forgotten', () => {
    const state = new ConfigState();
    state.apply([sourceOf(file(server('a')))], configDeps);
    state.apply([], configDeps);
    assert.deepEqual(ids(state.apply([sourceOf(broken)], configDeps)), []);
  });

  it('a refused file with remembered servers claims their ids, but has no problems at old places', () => {
    const state = new ConfigState();
    state.apply([sourceOf(undefined, '/one'), sourceOf(file(server('a')), '/two')], configDeps);
    const merged = state.apply(
      [sourceOf(file(server('a')), '/one'), sourceOf(broken, '/two')],
      configDeps,
    );
    assert.deepEqual(ids(merged), ['a']);
    assert.ok(!codes(merged.problems).includes('id-in-other-folder'));
  });

  it('a file listed twice counts once', () => {
    const source = sourceOf(file(server('a')));
    assert.deepEqual(new ConfigState().apply([source, source], configDeps).problems, []);
  });

  it('mergeSources is pure', () => {
    const previous = new Map();
    const merged = mergeSources([parse(file(server('a')))], previous);
    assert.equal(previous.size, 0);
    assert.deepEqual([...merged.accepted.keys()], ['/ws/.minds/mcp.yaml']);
  });

  describe('sources of one folder and of the user (C5)', () => {
    const mcprc = (ids: string[], folder = '/ws'): SourceText => ({
      file: `${folder}/.mcprc`,
      folder,
      origin: 'mcprc',
      text: JSON.stringify(Object.fromEntries(ids.map((id) => [id, { command: 'node' }]))),
    });
    const user = (text: string): SourceText => ({
      file: '/home/me/.minds/mcp.yaml',
      folder: '/ws',
      origin: 'user',
      text,
    });

    it('count in the order of the list, whatever its folder does not know', () => {
      const merged = new ConfigState().apply(
        [sourceOf(file(server('a'))), mcprc(['b']), user(file(server('c')))],
        configDeps,
      );
      assert.deepEqual(
        merged.model.servers.map(({ id, origin }) => [id, origin]),
        [
          ['a', 'folder'],
          ['b', 'mcprc'],
          ['c', 'user'],
        ],
      );
      assert.deepEqual(merged.problems, []);
    });

    it('a lower entry with the same id is shadowed without an error, and the model has its place', () => {
      const merged = new ConfigState().apply(
        [sourceOf(file(server('a'))), mcprc(['b', 'a']), user(file(server('b'), server('a')))],
        configDeps,
      );
      assert.deepEqual(ids(merged), ['a', 'b']);
      assert.deepEqual(
        merged.problems.map(({ code, severity, place, related }) => [
          code,
          severity,
          place.file,
          related?.[0]?.place.file,
        ]),
        [
          ['server-shadowed', 'information', '/ws/.mcprc', '/ws/.minds/mcp.yaml'],
          ['server-shadowed', 'information', '/home/me/.minds/mcp.yaml', '/ws/.mcprc'],
          ['server-shadowed', 'information', '/home/me/.minds/mcp.yaml', '/ws/.minds/mcp.yaml'],
        ],
      );
      assert.deepEqual(
        merged.model.shadowed.get('a')?.map((place) => place.file),
        ['/ws/.mcprc', '/home/me/.minds/mcp.yaml'],
      );
    });

    it('a `.mcprc` with too deep nesting is refused, and the other files count', () => {
      for (const text of [
        '{"a":'.repeat(20_000),
        `{"mcpServers":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      ]) {
        const merged = new ConfigState().apply(
          [sourceOf(file(server('a'))), { ...mcprc([]), text }],
          configDeps,
        );
        assert.deepEqual(ids(merged), ['a']);
        assert.deepEqual(merged.refused, ['/ws/.mcprc']);
        assert.ok(merged.problems.some(({ place }) => place.file === '/ws/.mcprc'));
      }
    });

    it("another folder's `.mcprc` is another folder", () => {
      const merged = new ConfigState().apply([mcprc(['a']), mcprc(['a'], '/two')], configDeps);
      assert.deepEqual(codes(merged.problems), ['id-in-other-folder']);
    });

    it('a shadowed entry counts when the higher one is gone', () => {
      const state = new ConfigState();
      state.apply([sourceOf(file(server('a'))), mcprc(['a'])], configDeps);
      const merged = state.apply([sourceOf(undefined), mcprc(['a'])], configDeps);
      assert.deepEqual(
        [
          merged.model.servers.map(({ source }) => source),
          merged.problems,
          merged.model.shadowed.size,
        ],
        [['/ws/.mcprc'], [], 0],
      );
    });

    it('a refused `.mcprc` keeps its last content', () => {
      const state = new ConfigState();
      state.apply([mcprc(['a'])], configDeps);
      const merged = state.apply([{ ...mcprc([]), text: '{ "a": ' }], configDeps);
      assert.deepEqual(
        [ids(merged), merged.refused, codes(merged.problems)],
        [['a'], ['/ws/.mcprc'], ['json-syntax']],
      );
    });
  });

  describe('the list of config files', () => {
    it('each folder has its three files, then comes the user’s file, with paths relative to home', () => {
      const files = sourceFiles(['/one', '/two'], '/home/me');
      assert.deepEqual(
        files.map(({ file: path, folder }) => [posixPath(path), folder]),
        [
          ['/one/.minds/mcp.yaml', '/one'],
          ['/one/.mcprc', '/one'],
          ['/one/.minds/mcp.local.yaml', '/one'],
          ['/two/.minds/mcp.yaml', '/two'],
          ['/two/.mcprc', '/two'],
          ['/two/.minds/mcp.local.yaml', '/two'],
          ['/home/me/.minds/mcp.yaml', '/home/me'],
        ],
      );
      assert.deepEqual(
        sourceFiles([], '/home/me').map(({ file: path, ...own }) => ({
          file: posixPath(path),
          ...own,
        })),
        [{ file: '/home/me/.minds/mcp.yaml', folder: '/home/me', origin: 'user' }],
      );
    });

    it("a workspace at home brings its file along: it is not the user's own", () => {
      assert.deepEqual(
        sourceFiles(['/home/me'], '/home/me').map(({ origin }) => origin),
        ['folder', 'mcprc', 'local'],
      );
      const own = '/home/me/.minds/mcp.yaml';
      assert.equal(isUserFile(own, ['/home/me'], '/home/me'), false);
      assert.equal(isUserFile(own, ['/home'], '/home/me'), false);
      assert.equal(isUserFile(own, ['/home/me/project', '/ws'], '/home/me'), true);
      assert.equal(isUserFile('/ws/.mcprc', ['/ws'], '/home/me'), false);
    });
  });
});
