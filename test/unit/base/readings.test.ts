/** Colours and control characters hide no secret (E4b). */
import assert from 'node:assert/strict';
import { Redactor } from '../../../src/core/base/log.js';
import { bare } from '../../../src/core/base/readings.js';
import { withoutArgumentSecrets } from '../../../src/core/base/secrets.js';

const tokens = {
  github: `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`,
  openai: `sk-proj-${'a1B2c3D4e5'.repeat(4)}`,
  aws: 'AKIAIOSFODNN7EXAMPLQ',
  slack: 'xoxb-123456789012-123456789012-a1B2c3D4e5a1B2c3D4e5a1B2',
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
};

const removed: Record<string, string> = {
  'a colour': '\u001b[33m',
  'a bold colour': '\u001b[1;32m',
  'a colour with colons': '\u001b[38:5:208m',
  'two colours': '\u001b[0m\u001b[1m',
  'a C1 colour': '\u009b33m',
  'a colour written as text': '\\u001b[33m',
  'a colour written twice as text': '\\\\u001b[33m',
  'a colour in octal': '\\033[33m',
  'a colour of cat -v': '^[[33m',
  'a movement of the cursor': '\u001b[2K\u001b[1G',
  'a set of characters': '\u001b(B',
  'a link': '\u001b]8;;https://h.example/\u001b\\',
  'a link with BEL': '\u001b]8;;https://h.example/\u0007',
  NUL: '\u0000',
  DEL: '\u007f',
  'a bell': '\u0007',
  'a backspace': '\b',
  CR: '\r',
  'a C1 control': '\u0085',
  'a zero-width space': '\u200b',
  'a zero-width joiner': '\u200d',
  'a word joiner': '\u2060',
  'a byte order mark': '\ufeff',
  'a soft hyphen': '\u00ad',
  'a change of direction': '\u202e',
  'a variation selector': '\ufe0f',
  'a tag': '\u{e0041}',
  'a zero-width space written as text': '\\u200b',
};

/** True if no third of the secret is left, with or without the removed character. */
function isGone(shown: string, secret: string, mark: string): boolean {
  const left = bare(shown.replaceAll(mark, ''));
  const third = Math.floor(secret.length / 3);
  return [0, third, secret.length - third].every(
    (at) => !left.includes(secret.slice(at, at + third)),
  );
}

describe('secrets among colours and control characters (E4b)', () => {
  const redact = (text: string, ...known: string[]): string => {
    const redactor = new Redactor();
    redactor.register(known);
    return redactor.redact(text);
  };

  for (const [what, mark] of Object.entries(removed)) {
    it(`a token is found behind ${what}, also if a word stands before it`, () => {
      for (const token of Object.values(tokens))
        for (const text of [
          `using ${mark}${token}${mark} now`,
          `using${mark}${token}${mark}now`,
          `GITHUB_TOKEN=${mark}${token}${mark}`,
          `${mark}"token"${mark}: ${mark}"${token}"${mark}`,
          `Bearer${mark} ${mark}${token}`,
          JSON.stringify({ line: `using${mark}${token}` }),
          JSON.stringify({ line: `using${mark}${token} and more` }).slice(0, -2) + '…',
        ])
          assert.ok(isGone(redact(text), token, mark), `${JSON.stringify(text)} ⇒ ${redact(text)}`);
    });

    it(`a token is found with ${what} in its middle`, () => {
      for (const token of Object.values(tokens))
        for (let at = 1; at < token.length; at++) {
          const text = `using ${token.slice(0, at)}${mark}${token.slice(at)} now`;
          assert.ok(isGone(redact(text), token, mark), `${JSON.stringify(text)} ⇒ ${redact(text)}`);
        }
    });

    it(`a value is found by its name with ${what} in the name, in the value and around them`, () => {
      for (const text of [
        `password: ${mark}hunter2Hunter2${mark}`,
        `pass${mark}word: hunter2Hunter2`,
        `INFO${mark}password=hunter2Hunter2`,
        `password=hunter2${mark}Hunter2`,
        `${mark}password${mark}=${mark}"hunter2Hunter2"${mark}`,
        `--password${mark} hunter2Hunter2`,
        `https://me:hunter2${mark}Hunter2@h/`,
        `https://me:${mark}hunter2Hunter2${mark}@h/`,
        JSON.stringify({ [`pass${mark}word`]: 'hunter2Hunter2' }),
        JSON.stringify([`--password${mark}`, 'hunter2Hunter2']),
      ])
        assert.ok(
          isGone(redact(text), 'hunter2Hunter2', mark),
          `${JSON.stringify(text)} ⇒ ${redact(text)}`,
        );
    });

    it(`a known value is found with ${what} in its middle, in a text and in the value`, () => {
      const known = 'correct horse battery';
      for (let at = 1; at < known.length; at++) {
        const split = `${known.slice(0, at)}${mark}${known.slice(at)}`;
        assert.ok(isGone(redact(`it said${mark}${split}${mark}!`, known), known, mark), split);
        assert.ok(isGone(redact(`it said ${split}!`, split), known, mark), split);
        assert.ok(isGone(redact(`it said ${known}!`, split), known, mark), split);
        const json = redact(JSON.stringify({ [split]: split, b: [split] }), known);
        assert.ok(isGone(json, known, mark), json);
        assert.doesNotThrow(() => JSON.parse(json) as unknown);
      }
    });
  }

  it('a secret in the address of a terminal’s link is found', () => {
    for (const end of ['\u001b\\', '\u0007', '\u009c'])
      assert.ok(
        isGone(
          redact(`\u001b]8;;https://h/?token=hunter2Hunter2${end}here`),
          'hunter2Hunter2',
          end,
        ),
      );
  });

  it('a private key is found with colours in its first line and around its lines', () => {
    const lines = ['MIIEvQIBADANBgkqhkiG9w0BAQ', 'EFAASCBKcwggSjAgEAAoIBAQDU'];
    const text = `\u001b[1m-----BEGIN \u001b[33mPRIVATE KEY-----\u001b[0m\n\u001b[33m${lines.join('\u001b[0m\n\u001b[33m')}`;
    const shown = redact(text);
    for (const line of lines) assert.ok(!shown.includes(line), shown);
    const known = `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----`;
    for (const line of lines)
      assert.ok(
        isGone(redact(`x ${line.slice(0, 9)}\u001b[1m${line.slice(9)}`, known), line, '\u001b[1m'),
      );
  });

  it('a JSON text behind a coloured beginning of a line stays JSON', () => {
    const shown = redact(
      '\u001b[2m12:00\u001b[0m → {"password":515151,"list":["--token","hunter2"]}',
    );
    assert.equal(shown, '\u001b[2m12:00\u001b[0m → {"password":"•••","list":["--token","•••"]}');
  });

  it('a mask leaves the colours around it and every text without a secret as it is', () => {
    assert.equal(
      redact(`\u001b[1mtoken\u001b[0m: \u001b[33m${tokens.github}\u001b[39m now`),
      '\u001b[1mtoken\u001b[0m: \u001b[33m•••\u001b[39m now',
    );
    for (const text of [
      '\u001b[31mError:\u001b[0m --api-key is required',
      'C:\\x1f\\e\\users',
      'caf\u00e9 👩‍💻 ok',
      'a\r\nb',
    ])
      assert.equal(redact(text), text);
  });

  it('secrets among arguments are found with a colour in them', () => {
    const [, shown = ''] = withoutArgumentSecrets(['run', `x\u001b[33m${tokens.github}`]);
    assert.ok(isGone(shown, tokens.github, '\u001b[33m'));
  });
});
