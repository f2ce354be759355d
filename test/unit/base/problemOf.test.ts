import assert from 'node:assert/strict';
import { problemOf } from '../../../src/core/base/problemOf.js';

const place = {
  file: '/ws/a.yaml',
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } },
};

describe('problemOf', () => {
  it('fills each value into the texts once, whatever the value holds', () => {
    const at = { server: '{name}', places: { key: place } };
    const { message, fix } = problemOf('tool-malformed', at, {
      name: '{detail} $1 $&',
      detail: '{server}',
    });
    assert.equal(
      message,
      'An entry of the tool list of "{name}" ({detail} $1 $&) is left out: it {server}.',
    );
    assert.equal(
      fix,
      'Ask the author of the server to correct it. The other tools are not affected.',
    );
  });

  it('leaves braces of the texts alone that are no name of a value', () => {
    const { fix } = problemOf('server-id-invalid', place, { id: 'a b', why: 'has a blank' });
    assert.equal(fix, 'Rename the server to match ^[a-zA-Z0-9_-]{1,64}$.');
  });

  it('takes a value for a part of the problem too, and no other', () => {
    const at = { server: 's', places: { key: place } };
    const found = problemOf('schema-unusable', at, { tool: 't', detail: 'why', severity: 'hint' });
    const { message, fix, ...rest } = found;
    assert.match(message, /^The tool "t" of "s" is left out: why\./);
    assert.match(fix, /^Blacklist the tool/);
    assert.deepEqual(rest, {
      code: 'schema-unusable',
      severity: 'hint',
      place,
      server: 's',
      tool: 't',
    });
  });

  it('has the code without the word that tells its texts apart', () => {
    assert.equal(problemOf('unknown-key:disabled', place, { key: 'disabled' }).code, 'unknown-key');
  });
});
