import assert from 'node:assert/strict';
import type { ServerPlaces } from '../../../../src/core/config/model.js';
import { parse, serversOf } from '../fixtures.js';
import { textIn } from '../renderConfig.js';

const text = `version: 1
x-env: &env
  SHARED: shared-value
servers:
  a: # the first
    transport: stdio   # comment
    command: npx
    args:
      - -y      # comment
      - "quoted"

    # about env
    env:
      <<: *env
      OWN: own-value
      COPY: { env: SEARCH_TOKEN }
    tools: { whitelist: ['x_*', 'y_*'] }
    transform:
      - prefix: p_
      - prefix:
          remove: r_
          add: a_
      - suffix: _s
    timeouts: {}
    cwd: >-
      sub
  b: &b
    transport: stdio
    command: '𝒩 wide'
    env: *env
  c: *b
`;

type Path = readonly (string | number)[];

function placesOf(id: string, of = text): ServerPlaces {
  const server = serversOf(parse(of)).find((candidate) => candidate.id === id);
  assert.ok(server);
  return server.kind === 'valid' ? server.definition.places : server.places;
}

/** The line, one-based, and the text of a place. */
function shown(place: ServerPlaces['key'], of = text): [number, string] {
  return [place.range.start.line + 1, textIn(of, place.range)];
}

describe('places of a server', () => {
  const values: readonly [Path, number, string][] = [
    [[], 5, 'a'],
    [['transport'], 6, 'stdio'],
    [['args', 0], 9, '-y'],
    [['args', 1], 10, '"quoted"'],
    [['env', 'OWN'], 15, 'own-value'],
    [['env', 'COPY'], 16, '{ env: SEARCH_TOKEN }'],
    [['env', 'COPY', 'env'], 16, 'SEARCH_TOKEN'],
    [['tools', 'whitelist', 1], 17, "'y_*'"],
    [['tools', 'whitelist'], 17, "['x_*', 'y_*']"],
    [['transform', 0], 19, 'prefix: p_'],
    [['transform', 2, 'suffix'], 23, '_s'],
    [['cwd'], 25, '>-\n      sub'],
  ];
  for (const [path, line, expected] of values) {
    it(`the value at ${JSON.stringify(path)} has its place`, () => {
      assert.deepEqual(shown(placesOf('a').value(path)), [line, expected]);
    });
  }

  const shownAtKey: readonly [Path, number, string][] = [
    [['args'], 8, 'args'],
    [['env'], 13, 'env'],
    [['transform'], 18, 'transform'],
    [['transform', 1], 20, 'prefix'],
    [['transform', 1, 'prefix'], 20, 'prefix'],
  ];
  for (const [path, line, expected] of shownAtKey) {
    it(`the value at ${JSON.stringify(path)} spans lines and is shown at its key`, () => {
      assert.deepEqual(shown(placesOf('a').value(path)), [line, expected]);
    });
  }

  const missing: readonly [Path, number, string][] = [
    [['url'], 5, 'a'],
    [['prompts', 'whitelist', 0], 5, 'a'],
    [['args', 7], 8, 'args'],
    [['args', 'x'], 8, 'args'],
    [['env', 'NONE'], 13, 'env'],
    [['tools', 'blacklist', 0], 17, "{ whitelist: ['x_*', 'y_*'] }"],
    [['tools', 'whitelist', 2], 17, "['x_*', 'y_*']"],
    [['timeouts', 'call'], 24, '{}'],
    [['command', 'deeper'], 7, 'npx'],
  ];
  for (const [path, line, expected] of missing) {
    it(`the value at ${JSON.stringify(path)} is missing and has the place of the nearest parent`, () => {
      assert.deepEqual(shown(placesOf('a').value(path)), [line, expected]);
    });
  }

  it('keys have their places', () => {
    const places = placesOf('a');
    assert.deepEqual(shown(places.key), [5, 'a']);
    assert.deepEqual(shown(places.keyAt([])), [5, 'a']);
    assert.deepEqual(shown(places.keyAt(['tools', 'whitelist'])), [17, 'whitelist']);
    assert.deepEqual(shown(places.keyAt(['env', 'COPY', 'env'])), [16, 'env']);
    assert.deepEqual(shown(places.keyAt(['args', 0])), [9, '-y'], 'an item has no key: its value');
    assert.deepEqual(shown(places.keyAt(['headers'])), [5, 'a'], 'not written: as the value');
  });

  it('a value from an alias or a merge key has its original place', () => {
    assert.deepEqual(shown(placesOf('a').value(['env', 'SHARED'])), [3, 'shared-value']);
    assert.deepEqual(shown(placesOf('b').keyAt(['env', 'SHARED'])), [3, 'SHARED']);
    assert.deepEqual(shown(placesOf('c').value(['transport'])), [28, 'stdio']);
    assert.deepEqual(shown(placesOf('c').key), [31, 'c']);
  });

  it('places count in UTF-16 code units', () => {
    const { range } = placesOf('b').value(['command']);
    assert.deepEqual(range, {
      start: { line: 28, character: 13 },
      end: { line: 28, character: 22 },
    });
  });

  for (const [name, lineBreak] of [
    ['CRLF', '\r\n'],
    ['lone CR', '\r'],
  ] as const) {
    it(`places are the same with ${name}, and with a byte order mark`, () => {
      const other = `\uFEFF${text.replaceAll('\n', lineBreak)}`;
      for (const [path] of [...values, ...shownAtKey, ...missing]) {
        assert.deepEqual(
          placesOf('a', other).value(path),
          placesOf('a').value(path),
          JSON.stringify(path),
        );
      }
    });
  }
});
