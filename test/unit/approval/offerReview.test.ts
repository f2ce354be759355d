import assert from 'node:assert/strict';
import type { OfferChange } from '../../../src/core/approval/offerLedger.js';
import { halfWidth } from '../../../src/core/base/folded.js';
import { offerQuestion, offerReview } from '../../../src/core/approval/offerReview.js';

const change = (original: string, now: string, rest: Partial<OfferChange> = {}): OfferChange => ({
  launch: '1',
  kind: 'tool',
  original,
  server: 'talker',
  source: '/ws/.minds/mcp.yaml',
  parts: ['description'],
  print: [],
  now: [['description', now]],
  before: [['description', 'one']],
  ...rest,
});
const label = (): string => '.minds/mcp.yaml';

describe('the review of a changed tool (S3)', () => {
  it('a review shows the whole text beside the earlier one, line by line', () => {
    const added = change('y', 'Adds.', { parts: ['new'], before: 'new' });
    const { now, before } = offerReview([change('x', 'two'), added], label);
    assert.match(
      now,
      /\ntalker {2}· {2}tool x {2}· {2}description change\n {2}… d {2}· {2}\.minds\/mcp\.yaml\n\n {2}description\n {4}two\n/,
    );
    assert.match(
      now,
      /tool y {2}· {2}new since approval\n {2}… {3}· {2}\.minds\/mcp\.yaml\n\n {2}description\n {4}Adds\.\n/,
    );
    assert.match(before ?? '', / {4}one\n[^]* {4}The server did not offer this\.\n/);
    assert.equal(offerReview([added], label).before, undefined);
    const unknown = offerReview(
      [change('x', 'two', { before: 'notKept' }), change('z', 'z')],
      label,
    );
    assert.match(unknown.before ?? '', /The earlier text is no longer known/);
  });

  it('a review hides nothing by length, empty lines or invisible characters', () => {
    const { now } = offerReview(
      [change('x', `a${'\n'.repeat(5000)}${' '.repeat(5000)}b\u202Ec\u200Bd ${'e'.repeat(950)}f`)],
      label,
    );
    const lines = now.split('\n');
    assert.ok(lines.every((line) => line.length <= halfWidth));
    assert.ok(lines.length < 50);
    assert.match(now, /\\u\{a × 4999\}\n/);
    const unfolded = now.replace(/\n {2}… /g, '');
    assert.match(unfolded, /\\u\{20 × 5000\}b\\u\{202e\}c\\u\{200b\}d e{950}f\n/);
  });

  it('a review marks a folded line, whatever the text says', () => {
    const text = `${'x'.repeat(60)}\n  … y\n… z`;
    const { now } = offerReview([change('x', text)], label);
    assert.deepEqual(now.split('\n').slice(-5), [
      `    ${'x'.repeat(halfWidth - 4)}`,
      `  … ${'x'.repeat(60 - halfWidth + 4)}`,
      '      … y',
      '    … z',
      '',
    ]);
  });

  it('the question names the changes, and nothing in a name can act', () => {
    assert.equal(offerQuestion([change('x', '')], false), 'Accept as shown: “x” of “talker”?');
    const told = change('', '', { kind: 'instructions' });
    assert.match(
      offerQuestion([told], true),
      /^This changed while you read\. .* the instructions of “talker”\?$/,
    );
    assert.ok(!offerQuestion([change('[x](command:y)', '')], false).includes(']('));
  });
});
