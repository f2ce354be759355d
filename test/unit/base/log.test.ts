import assert from 'node:assert/strict';
import { Redactor, redactingLog } from '../../../src/core/base/log.js';

describe('a log (E4, S1d)', () => {
  function written(message: string, ...secrets: string[]): string {
    const entries: string[] = [];
    const redactor = new Redactor();
    redactor.register(secrets);
    redactingLog({ write: (_, text) => void entries.push(text) }, redactor).write('info', message);
    assert.equal(entries.length, 1);
    return entries[0] ?? '';
  }

  it('a log keeps an ordinary line as it is', () => {
    assert.equal(
      written('Started node a.js (pid 12) — “fine”'),
      'Started node a.js (pid 12) — “fine”',
    );
  });

  it('a log shows control and invisible characters as numbers', () => {
    assert.equal(
      written('a\u001b[2J\u0007b\u202ec\u200bd\re'),
      'a\\u{1b}[2J\\u{7}b\\u{202e}c\\u{200b}d\\u{d}e',
    );
  });

  it('no text of a log begins another entry', () => {
    const forged = 'bye\n2026-01-01 00:00:00.000 [info] Approved by you\r\nmore';
    assert.equal(
      written(forged),
      'bye\n    2026-01-01 00:00:00.000 [info] Approved by you\n    more',
    );
    assert.equal(written('a\u2028b\u0085c'), 'a\\u{2028}b\\u{85}c');
  });

  it('a log hides a JSON secret in every layout, and each text in it', () => {
    const redactor = new Redactor();
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgk\n-----END KEY-----\n';
    const account = {
      host: 'db.corp',
      on: true,
      none: null,
      pin: 20251123,
      more: [{ word: 'blue-parrot', key }],
    };
    redactor.register([
      JSON.stringify(account),
      '["key-one","key-two"]',
      '{"but this": is not JSON',
    ]);
    for (const text of [
      `cannot connect with ${JSON.stringify(account)}`,
      JSON.stringify({ config: JSON.stringify(account) }),
      JSON.stringify(account, undefined, 2),
      'blue-parrot, 20251123, MIIEvQIBADANBgk and key-two are wrong',
    ]) {
      assert.doesNotMatch(redactor.redact(text), /parrot|20251123|MIIEv|key-one|key-two/);
    }
    assert.equal(redactor.redact('it is true and null'), 'it is true and null');
  });

  it('a log hides a secret in colour, and a known one with a colour in its middle (E4b)', () => {
    const token = `ghp_${'a1B2c3D4e5'.repeat(3)}`;
    assert.equal(
      written(`[stderr] x\u001b[33m${token}\u001b[39m`),
      '[stderr] x\\u{1b}[33m•••\\u{1b}[39m',
    );
    assert.equal(written('it is sec\u001b[1mret-value', 'secret-value'), 'it is •••');
  });

  it('a log hides secrets before it makes text inert', () => {
    assert.equal(written('it is se\u200bcret-value', 'se\u200bcret-value'), 'it is •••');
    assert.equal(written('line-one-x\nline-two-x', 'line-one-x\nline-two-x'), '•••');
  });
});
