/** The search for secrets is linear in the length of a text (E4, S2). */
import assert from 'node:assert/strict';
import { Redactor } from '../../src/core/base/log.js';
import { withoutArgumentSecrets, withoutSecrets } from '../../src/core/base/secrets.js';
import { shortened } from '../../src/core/protocol/inBrief.js';

describe('looking for secrets', () => {
  const filled = (unit: string, size: number): string =>
    unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
  const units = [
    ...[
      'a.a.',
      'a',
      'a=',
      'key=',
      'key:',
      'key: ',
      '://',
      'a://',
      'a:b@c://',
      'http://a/',
      'http://u:p',
      'a/',
      '@',
      '"',
    ],
    ...[
      '\\"',
      '\\',
      '{"a":"b"},',
      '{',
      '[',
      '[{',
      '-e ',
      '-u ',
      '-a',
      '--token ',
      '--token',
      'Bearer ',
      'bearer',
      'sk-',
    ],
    ...[
      'eyJ',
      'ghp_',
      '-----BEGIN PRIVATE KEY-----',
      '-----BEGIN ',
      'token=[',
      '"token":[',
      '"token":["',
      'token="',
    ],
    ...[
      'token=\\"',
      'Authorization:',
      'Authorization: ',
      'Cookie: ',
      'password: ',
      'password=',
      '…',
      'key=x,',
      '&code=',
    ],
    ...[
      '?a=',
      '://x:y/',
      'http://hooks.a/webhooks/',
      'bot1234:',
      ' ',
      '\n',
      ' \n',
      '\t',
      'é',
      '𝒳',
      '"token","',
      "x-a: '",
    ],
    ...[
      '\u001b',
      '\u001b[',
      '\u001b[33m',
      '\u001b[33',
      '\u001b]8;;',
      '\u001b]',
      '^[',
      '^[[',
      '\\u001b[',
      '\u200b',
      '\u009b',
    ],
    ...[
      '\u001b[33mkey=a',
      '\u001b]8;;http://a/',
      'ghp_\u001b',
      'key=a\u200b',
      'canary-1\u200b',
      'ab\u200b',
      'a\u001b[m',
    ],
    ...[
      'key:key="',
      'Ab1',
      'aB',
      'A',
      '1',
      '-',
      '_',
      '.',
      ',',
      ';',
      '<',
      "'",
      '`',
      'canary',
      'canar',
      'ababa',
    ],
  ];
  const secrets = [
    'canary-1',
    'a'.repeat(5000) + 'b',
    'ab'.repeat(700),
    'a.a.a.a.b',
    'key=key=x',
    '"quoted"',
    'end\\',
    ' '.repeat(9) + 'x',
  ];
  const redactor = new Redactor();
  redactor.register(secrets);
  const ways: Record<string, (text: string) => unknown> = {
    'a text': (text) => withoutSecrets(text),
    'a log': (text) => redactor.redact(text),
    JSON: (text) => redactor.redact(`[${JSON.stringify(text)}]`),
    arguments: (text) => withoutArgumentSecrets([text, text]),
    'a short text': (text) => shortened(text, 4000),
  };
  const timeOf = (way: (text: string) => unknown, text: string): number => {
    // Processor time, because it depends less on other work of the machine.
    const before = process.cpuUsage();
    way(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };

  for (const [what, way] of Object.entries(ways)) {
    it(`redaction is linear in ${what}`, function () {
      this.timeout(120_000);
      const size = what === 'a text' ? 1_000_000 : 300_000;
      const shorter = 8;
      for (const unit of units) {
        const text = filled(unit, size);
        const part = text.slice(0, size / shorter);
        // Eight times the text takes eight times the time, or sixty-four times if the function is
        // quadratic. Below 3 ms is noise. The best of several turns has the least noise from a busy
        // machine.
        let [ratio, whole, eighth] = [Infinity, Infinity, Infinity];
        for (let turn = 0; turn < 30 && ratio > 3.5; turn++) {
          whole = Math.min(whole, timeOf(way, text));
          eighth = Math.min(eighth, timeOf(way, part));
          ratio = whole / shorter / Math.max(3, eighth);
        }
        assert.ok(
          ratio <= 3.5,
          `${JSON.stringify(unit)}: ${ratio.toFixed(1)} times the time for the same text`,
        );
      }
    });
  }
});
