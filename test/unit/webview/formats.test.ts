import assert from 'node:assert/strict';
import { enteredText, sentText } from '../../../src/webview/formats.js';

describe('texts with a format', () => {
  it('sends a time with an offset that means the same moment', () => {
    for (const entered of ['2026-01-31T08:05', '2026-07-31T23:59:58']) {
      const sent = sentText('date-time', entered) ?? '';
      assert.match(sent, /^2026-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/);
      assert.equal(new Date(sent).getTime(), new Date(entered).getTime());
      assert.equal(
        new Date(enteredText('date-time', sent) ?? '').getTime(),
        new Date(entered).getTime(),
      );
    }
    assert.match(sentText('time', '14:30') ?? '', /^14:30:00(?:Z|[+-]\d\d:\d\d)$/);
    assert.equal(enteredText('time', sentText('time', '14:30') ?? ''), '14:30:00');
  });

  it('takes no moment whose year has more than four digits', () => {
    for (const moment of ['+275760-09-13T00:00:00Z', '+012026-01-31T08:05:00Z', 'never']) {
      assert.equal(enteredText('date-time', moment), undefined);
      assert.equal(sentText('date-time', moment), undefined);
    }
    assert.equal(
      new Date(enteredText('date-time', '9999-06-30T00:00:00Z') ?? '').getUTCFullYear(),
      9999,
    );
  });

  const rows: readonly (readonly [Parameters<typeof sentText>[0], string, boolean])[] = [
    ['date', '2026-02-28', true],
    ['date', 'tomorrow', false],
    ['time', 'noon', false],
    ['date-time', 'now', false],
    ['email', 'ann@example.com', true],
    ['email', 'ann', false],
    ['uri', 'https://example.com/a?b', true],
    ['uri', 'urn:isbn:1', true],
    ['uri', 'example.com', false],
  ];
  for (const [format, entered, fits] of rows) {
    it(`${fits ? 'takes' : 'refuses'} ${entered} as ${format}`, () =>
      assert.equal(sentText(format, entered), fits ? entered : undefined));
  }
});
