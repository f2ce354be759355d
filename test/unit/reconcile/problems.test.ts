import assert from 'node:assert/strict';
import type { ChangedOffer } from '../../../src/core/approval/offerPrints.js';
import { offersChanged } from '../../../src/core/reconcile/problems.js';
import { definitionOf } from '../config/fixtures.js';

const text = `version: 1
servers:
  gh:
    transport: stdio
    command: x
    tools:
      override:
        search_issues: { description: y }
`;
const at = { server: 'gh', places: definitionOf(text).places };
const change = (original: string, rest: Partial<ChangedOffer> = {}): ChangedOffer => ({
  launch: '1',
  kind: 'tool',
  original,
  parts: ['override'],
  held: false,
  ...rest,
});
const found = (...changes: ChangedOffer[]): string[] =>
  offersChanged(at, changes).map(
    ({ code, place, message }) => `${code} ${place.range.start.line + 1}: ${message}`,
  );

describe('problems of changed offers (S3)', () => {
  it('nothing has changed', () => assert.deepEqual(found(), []));

  it('an override that the file has now is a change of the file, at its key', () => {
    const one = change('search_issues', { isOfFile: true });
    assert.deepEqual(found(one), [
      'tools-changed 8: The file now overrides `search_issues` of "gh".',
    ]);
    assert.deepEqual(found({ ...one, held: true }, change('other', { isOfFile: true })), [
      'tools-changed 8: The file now overrides `search_issues`, `other` of "gh". Agents do not see what changed.',
    ]);
  });

  it('changes of the server and of the file are two problems', () => {
    const changes = [
      change('a', { parts: ['description', 'override'] }),
      change('search_issues', { isOfFile: true }),
      change('', { kind: 'instructions', parts: ['text'] }),
    ];
    assert.deepEqual(found(...changes), [
      'tools-changed 3: "gh" has changed what it offers since you let it start: tool "a" (description and override changed), its instructions (text changed).',
      'tools-changed 8: The file now overrides `search_issues` of "gh".',
    ]);
  });

  it('an override that the file no longer has is a change of the tool', () => {
    assert.deepEqual(found(change('a')), [
      'tools-changed 3: "gh" has changed what it offers since you let it start: tool "a" (override changed).',
    ]);
  });
});
