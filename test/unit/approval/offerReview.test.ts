import assert from 'node:assert/strict';
import type { OfferChange } from '../../../src/core/approval/offerLedger.js';
import { halfWidth } from '../../../src/core/base/folded.js';
import { reviewedTool } from '../../../src/core/approval/offerPrints.js';
import type { ArgumentOverride } from '../../../src/core/config/model.js';
import { servedTool } from '../vscode/views/statuses.js';
import { plain } from '../yaml/plain.js';
import {
  offerQuestion,
  offerReview,
  whatAgentsRead,
} from '../../../src/core/approval/offerReview.js';

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

  it('a review of an override in the file says so, and shows it as YAML', () => {
    const fixed = { fixed: { value: 'acme/app' } };
    const given = new Map<string, ArgumentOverride>([
      ['repo', fixed],
      ['a: b', { default: { value: [1] }, allow: ['x', 'y-*'] }],
    ]);
    const offer = reviewedTool(
      { name: 'search_issues', inputSchema: { type: 'object' } },
      { description: 'Finds "issues".', arguments: given },
    );
    const { now } = offerReview(
      [change('search_issues', '', { parts: ['override'], isOfFile: true, now: offer.text() })],
      label,
    );
    assert.match(
      now.replace(/\n {2}… /g, ''),
      /talker {2}· {2}The file now overrides `search_issues` {2}· /,
    );
    const written = offer.text().at(-1)?.[1] ?? '';
    assert.equal(
      written,
      'description: "Finds \\"issues\\"."\narguments:\n  repo: { fixed: "acme/app" }\n  "a: b": { default: [1], allow: ["x","y-*"] }',
    );
    assert.deepEqual(plain(written), {
      description: 'Finds "issues".',
      arguments: { repo: { fixed: 'acme/app' }, 'a: b': { default: [1], allow: ['x', 'y-*'] } },
    });
  });

  it('the texts that agents read are beside those of the servers, with tokens', () => {
    const inputSchema = { type: 'object' as const, properties: { repo: { type: 'string' } } };
    const offered = { name: 'search', description: 'Long\u202e text.', inputSchema };
    const shown = { ...offered, description: 'Short.' };
    const served = {
      ...servedTool('gh_search', { original: 'search' }),
      tool: shown,
      override: { offered, rules: [] },
    };
    const toolsets = [
      { id: 'gh', tools: [served] },
      { id: 'other', tools: [servedTool('x')] },
    ];
    const { now, before = '' } = whatAgentsRead(toolsets);
    assert.match(
      now,
      /^gh\n\ngh_search {2}· {2}~\d+ tokens\n\n {2}description\n {4}Short\.\n[^]* {2}input schema\n {4}\{\n[^]*"repo"[^]*\nother\n\nx {2}·/,
    );
    assert.match(
      before,
      /^gh\n\nsearch {2}· {2}~\d+ tokens\n\n {2}description\n {4}Long\\u\{202e\} text\.\n/,
    );
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
