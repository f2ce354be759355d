/** The pages say what the code does: every problem code has its row, every setting and key is listed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { problemCodes } from '../../src/core/base/problem.js';
import { knownKeys } from '../../src/core/config/keys.js';
import manifest from '../../package.json';

const readme = readFileSync(path.resolve(__dirname, '../../README.md'), 'utf8');

describe('README', () => {
  it('explains every problem code, under an anchor of its own, and no other', () => {
    const anchors = [...readme.matchAll(/<a id="([^"]+)"><\/a>`([^`]+)`/g)].map(([, id, code]) => {
      assert.equal(id, code);
      return id;
    });
    assert.deepEqual([...anchors].sort(), [...problemCodes].sort());
  });

  it('lists every key of a server', () => {
    for (const key of knownKeys.server) assert.match(readme, new RegExp(`\`${key}[\`.]`), key);
  });

  it('lists every setting with its default', () => {
    for (const [name, { default: value }] of Object.entries(manifest.contributes.configuration.properties)) {
      assert.ok(
        readme.includes(`| \`${name}\` | \`${typeof value === 'object' ? JSON.stringify(value) : String(value)}\` |`),
        name,
      );
    }
  });
});
