import assert from 'node:assert/strict';
import { outline, serversIn, type OutlineEntry } from '../../../src/core/authoring/outline.js';
import { wholeFormat } from '../config/fixtures.js';

describe('outline (E2)', () => {
  const shown = ({ name, detail, children }: OutlineEntry): unknown =>
    children.length > 0 ? { [name]: children.map(shown) } : detail ? `${name} ${detail}` : name;

  it('the outline has the servers with their keys, and no secret', () => {
    const entries = outline(wholeFormat);
    assert.equal(entries[0]?.name, 'version');
    const [playwright, search] = entries[1]?.children ?? [];
    assert.deepEqual(
      [playwright?.name, playwright?.kind, playwright?.detail],
      ['playwright', 'server', 'npx'],
    );
    assert.equal(search?.detail, 'streamable_http');
    const keys = JSON.stringify(search?.children.map(shown));
    assert.match(keys, /"headers":\["Authorization","X-Client"\]/);
    assert.doesNotMatch(JSON.stringify(entries), /example\.com|"minds"/);
  });

  it('each symbol has a span inside its parent’s span and around its key', () => {
    const check = (
      entries: readonly OutlineEntry[],
      within: { start: number; end: number },
    ): void => {
      for (const { span, keySpan, children } of entries) {
        assert.ok(within.start <= span.start && span.end <= within.end);
        assert.ok(span.start <= keySpan.start && keySpan.end <= span.end);
        check(children, span);
      }
    };
    for (let end = 0; end <= wholeFormat.length; end += 7)
      check(outline(wholeFormat.slice(0, end)), { start: 0, end });
  });

  it('the servers are found in broken YAML', () => {
    assert.deepEqual(
      serversIn('servers:\n  a:\n    args: [x\n  b:\n    command: "x\n  c: { ').map(({ id }) => id),
      ['a', 'b', 'c'],
    );
  });
});
