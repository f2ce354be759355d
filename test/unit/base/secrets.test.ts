/** Recognition of secrets (E4). `adversarial/redaction.test.ts` shows that it is linear. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-ast';
import { Redactor } from '../../../src/core/base/log.js';
import {
  isSecret,
  withoutArgumentSecrets,
  withoutSecrets,
} from '../../../src/core/base/secrets.js';
import { isSecretVariable } from '../../../src/core/base/secretNames.js';
import { shortened } from '../../../src/core/protocol/inBrief.js';
import { Random } from '../stress/random.js';

const canary = 'k4n4ry5ca1ab1e';

describe('variables of the environment', () => {
  for (const [name, value, isIt] of [
    ['GITHUB_TOKEN', 'ghp_1234', true],
    ['AWS_SESSION_TOKEN', 'abc', true],
    ['DB_PASS', 'hunter2', true],
    ['PWD', '/home/me/project', false],
    ['OLDPWD', 'C:\\Users\\me', false],
    ['SSH_AUTH_SOCK', '/tmp/agent.1', false],
    ['DESKTOP_SESSION', 'ubuntu', false],
  ] as const)
    it(`${name}=${value} is ${isIt ? 'a' : 'no'} secret`, () =>
      assert.equal(isSecretVariable(name, value), isIt));
});

describe('secrets', () => {
  const texts: Record<string, string> = {
    'a variable': `MYSQL_PASS=${canary}`,
    'a glued name': `PGPASSWORD=${canary}`,
    'another glued name': `OPENAIKEY=${canary} and more`,
    'several of them': `API_KEYS=${canary}`,
    'a plural': `TOKENS=${canary}`,
    'an abbreviation': `CREDS='${canary} with spaces'`,
    JSON: `{"clientSecret": "${canary}"}`,
    'a number in JSON': '{"password": 515151515151}',
    'a list in JSON': `{"apiKeys": ["a${canary}", "b${canary}"]}`,
    'JSON in a line of a log': `→ tools/call #3 {"arguments":{"token":"${canary}"}}`,
    'JSON in a text in JSON': JSON.stringify({ body: JSON.stringify({ token: `${canary}"` }) }),
    'JSON that was cut': `{"a": 1, "token": "${canary}…`,
    'a map behind an option': `[--token, { API_KEY: ${canary} }]`,
    'options in JSON': `["--token", "${canary}", "-u", "me:${canary}"]`,
    'values between semicolons': `Server=h;User Id=me;Password=a@b,${canary};Database=d`,
    'a connection string': `postgres://me:${canary}@host/db`,
    'a password with @': `postgres://me:p@${canary}@host/db`,
    'a password with a slash': `postgres://me:p/${canary}@host/db`,
    'an address that was cut': `postgres://me:${canary}…`,
    'a token as user name': `https://${canary}@host/`,
    'a parameter of an address': `GET https://h/p?mode=a&api_key=${canary}#x`,
    'a code': `http://127.0.0.1/callback?code=${canary}&state=x`,
    'credentials as an option': `curl -u me:${canary} https://h/`,
    'an option': `run --pass ${canary} --next`,
    'an option of a plain word': 'run --pass kanary',
    'a value of an environment': `docker run -e X=${canary} image`,
    'a webhook': `https://hooks.example.com/services/T00/B${canary}/${canary}`,
    'a webhook by its path': `https://example.com/api/webhooks/1234567/${canary}`,
    'the token of a bot': `https://api.example.org/bot123456789:${canary}/getMe`,
    'a header': `Authorization: Bearer ${canary}`,
    'a header of another scheme': `authorization: Digest username="a", response="${canary}"`,
    cookies: `Cookie: a=b; c=${canary}`,
    'a header of one’s own': `X-Api-Key: ${canary}`,
    'a bearer token': `it sent Bearer ${canary}`,
    'a session': `mcp-session-id: ${canary}`,
    'a known beginning': `the key ghp_${canary} is wrong`,
    'a private key': `-----BEGIN RSA PRIVATE KEY-----\n${canary}\n${canary}\n-----END RSA PRIVATE KEY-----`,
    'a password in prose': 'wrong password: kanary',
    YAML: `api_key: ${canary}`,
  };
  for (const [where, text] of Object.entries(texts)) {
    it(`a secret is found in a text: ${where}`, () => {
      const shown = withoutSecrets(text);
      assert.doesNotMatch(shown, /kanary|k4n4ry|5151/);
      assert.match(shown, /•••/);
    });
  }

  const args: Record<string, string[]> = {
    'behind an option': ['--token', canary],
    'behind an option, short': ['--pass', 'x'],
    'in an option': [`--api-key=${canary}`],
    credentials: ['-u', `me:${canary}`],
    'an environment': ['-e', `X=${canary}`],
    'an environment, attached': [`-eX=${canary}`],
    'a header': ['-H', `X-Whatever: ${canary}`],
    JSON: ['--config', `{"apiKey":"${canary}"}`],
    random: ['c4f3b4b3d34db33fc4f3b4b3d34db33f'],
    'a known beginning': [`sk-${canary}`],
  };
  for (const [where, list] of Object.entries(args)) {
    it(`a secret is found in arguments: ${where}`, () => {
      const shown = withoutArgumentSecrets(list);
      assert.deepEqual(shown.slice(0, -1), list.slice(0, -1));
      assert.notEqual(shown.at(-1), list.at(-1));
      assert.doesNotMatch(shown.join(' '), /k4n4ry|x$|c4f3/);
    });
  }

  it('harmless values are not secrets', () => {
    for (const text of [
      'Error: --api-key is required',
      'Unexpected token: }',
      'bearer tokens are fine, basic authentication is not',
      'key: value',
      "args: ['--token', { env: NAME }, --api-key, { prefix: 'a', secret: NAME }]",
      '{"key":"Enter","max_tokens":4096,"token":null,"tokenFile":"/run/x","required":["token"]}',
      'http://127.0.0.1:8080/mcp',
      'ssh://git@example.com/a.git',
      'npx -y @modelcontextprotocol/server-filesystem@2025.1.14 --port=3000',
      'https://registry.example.org/@scope/name/-/name-1.2.3.tgz',
      'MONKEY=banana PUBLIC_KEY=abc',
      'The environment variable `API_KEY`, needed for `env.API_KEY`, is not set.',
      'npm_config_registry',
    ]) {
      assert.equal(withoutSecrets(text), text);
    }
    const list = [
      '-y',
      '-p',
      '@scope/name',
      '-p',
      '8080:80',
      '--key-file',
      '/run/key',
      '--token',
      '${TOKEN}',
    ];
    assert.deepEqual(withoutArgumentSecrets(list), list);
    assert.equal(isSecret('MODE', 'ci'), false);
    assert.equal(isSecret('TOKEN', ''), false);
  });
});

describe('secrets in messages about missing ones', () => {
  for (const text of [
    "KeyError: 'ACME_API_TOKEN'",
    'KeyError: region',
    'TokenError: invalid_grant',
    'AuthException: no account',
    "    token = os.environ['ACME_API_TOKEN']",
    "  apiKey: process.env.ACME_API_KEY ?? '',",
    'required via --brave-api-key, BRAVE_API_KEY, --brave-api-key-file',
    'Details: {"OBSIDIAN_API_KEY":["Required"]}',
    'Details: {"OBSIDIAN_API_KEY":["Required"]} at start',
    '{"fieldErrors":{"apiKeys":["Required"],"ACME_TOKEN":"Invalid input: expected string, received undefined"}}',
    'Authorization: header is missing',
    'api_key: Field required',
    'Missing api_key: ACME_API_KEY',
    '“TokenError: invalid_grant” The next sentence',
  ]) {
    it(`no name and no reason is masked: ${text}`, () => assert.equal(withoutSecrets(text), text));
  }

  for (const [text, clean] of [
    ['token: ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'token: •••'],
    ['“api_key=hunter2hunter2” The next', '“api_key=•••” The next'],
    ['“Authorization: Bearer abcdef123456”', '“Authorization: Bearer •••”'],
    ['run --api-key hunter2x', 'run --api-key •••'],
    ['{"API_KEY":["hunter2x"]}  at x', '{"API_KEY":["•••"]}  at x'],
    ['KeyError: token=hunter2x', 'KeyError: token=•••'],
  ] as const) {
    it(`a value is still masked: ${text}`, () => assert.equal(withoutSecrets(text), clean));
  }
});

describe('Redactor', () => {
  it('a registered value is also known by its lines (E4b)', () => {
    const redactor = new Redactor();
    const key =
      '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\r\nkqhkiG9w0BAQ\n-----END PRIVATE KEY-----';
    redactor.register([key, 'first half of it\\nsecond half of it']);
    for (const line of key.split(/\r?\n/))
      assert.doesNotMatch(redactor.redact(`[stderr] ${line}`), /MII|kqh/);
    assert.equal(redactor.redact('second half of it'), '•••');
  });

  it('a known value is found even if the text was cut within it (E4b)', () => {
    const redactor = new Redactor();
    const value = 'correct horse battery staple, forty-eight long!!';
    redactor.register([value]);
    for (let length = 6; length <= value.length; length++) {
      const text = `it said ${value.slice(0, length)}…`;
      assert.equal(redactor.redact(text), 'it said •••…');
    }
    for (let limit = 1; limit < 80; limit++) {
      const shown = redactor.redact(shortened(`it said ${value} to all who asked`, limit));
      assert.doesNotMatch(shown, /correct|horse|battery/);
    }
  });

  it('known values are found if they overlap, begin alike, or are very long', () => {
    const redactor = new Redactor();
    const long = `${'ab'.repeat(3000)}c`;
    redactor.register([
      'secret-one',
      'one-and-two',
      'secret-o',
      long,
      `${'ab'.repeat(3000)}d${'e'.repeat(3000)}`,
    ]);
    assert.equal(redactor.redact('x secret-one-and-two y secret-o z'), 'x ••• y ••• z');
    assert.equal(redactor.redact(`x ${long} y`), 'x ••• y');
    assert.equal(redactor.redact(`x ${'ab'.repeat(3000)}d${'e'.repeat(3000)} y`), 'x ••• y');
  });

  it('known values may hold half characters', () => {
    const redactor = new Redactor();
    redactor.register(['half \ud800 of one']);
    assert.equal(redactor.redact('half \ud800 of one'), '•••');
  });

  it('redaction is bounded, and the kept part shows no part of a secret', () => {
    const redactor = new Redactor();
    redactor.register([canary]);
    const shown = redactor.redact(`${canary}-`.repeat(200_000));
    assert.doesNotMatch(shown, /k4n4/);
    assert.match(shown, /… \(\d+ more characters\)$/);
  });

  it('redaction leaves valid JSON valid, and no secret in it (E4)', () => {
    const random = new Random(20_251);
    const pieces = [
      'token',
      '"',
      '\\',
      '\n',
      'é',
      '5ca1ab1e',
      'https://u:',
      '@h/',
      '=',
      ':',
      ' ',
      '--pass',
      '{"a":1}',
      '[',
      ';',
      '\u2028',
    ];
    const word = (): string =>
      Array.from({ length: random.int(6) }, () => random.pick(pieces)).join('');
    const value = (depth: number): unknown => {
      const kind = random.int(depth > 3 ? 4 : 6);
      if (kind === 0) return random.int(2 ** 40);
      if (kind === 1) return random.pick([true, null, 1.5e300]);
      if (kind < 4) return word() + random.pick(['', secrets[random.int(secrets.length)]]);
      if (kind === 4) return Array.from({ length: random.int(4) }, () => value(depth + 1));
      return Object.fromEntries(
        Array.from({ length: random.int(4) }, () => [
          random.pick([word(), 'token', 'args', 'password']),
          value(depth + 1),
        ]),
      );
    };
    const secrets = Array.from({ length: 12 }, () => `${word()}canary${word()}`);
    const redactor = new Redactor();
    redactor.register([...secrets, '1234567', 'true,"a', '{"a":1}']);
    for (let round = 0; round < 3000; round++) {
      const before = value(0);
      const text = JSON.stringify(before, undefined, random.pick([undefined, 2]));
      for (const [front, shown] of [
        ['', redactor.redact(text)],
        ['', withoutSecrets(text)],
        ['← answer #1 ', redactor.redact(`← answer #1 ${text}`)],
      ] as const) {
        if (front !== '' && !/^[{[]/.test(text)) continue;
        assert.doesNotThrow(
          () => JSON.parse(shown.slice(front.length)) as unknown,
          `seed ${random.seed}: ${text} ⇒ ${shown}`,
        );
      }
      assert.doesNotMatch(redactor.redact(text), /canary/, text);
    }
  });
});

describe('house', () => {
  const root = path.resolve(__dirname, '../../../src');
  const filesBelow = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const full = path.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(full) : entry.name.endsWith('.ts') ? [full] : [];
    });
  const telling =
    /toke|secret|passw|pwd|cred|bearer|api[^a-z]{0,8}key|\bkeys?\b|cookie|session|authorization|\bauth\b/i;
  /** Patterns with such words and no decision about secrets. */
  const others: Record<string, readonly RegExp[]> = {
    'core/agents/planEntries.ts': [/\.token\/$/],
    'core/connections/http/oauth/oauth.ts': [/bearer/],
    'core/authoring/completion.ts': [/DBUS_/],
    // A review masks less, because a mask must not hide running programs (S1e).
    'core/approval/reviewMask.ts': [/Bearer\|Basic/, /TOKEN\|SECRET\|PASSWORD/],
    'core/connections/http/refusals.ts': [/invalid_token/],
    'core/connections/http/streamable.ts': [/^\/session\/i$/, /\)\?session\(/],
    'core/connections/http/oauth/answers.ts': [/access_token/],
    'core/config/read/launch.ts': [/mcp-\(\?:session-id/],
    'core/failures/http.ts': [/HTTP_TOKEN/],
    'core/failures/likelyCause.ts': [/missing/, /Unexpected token/, /credential/],
    'core/minds/modelFailures.ts': [/invalid|unauthori|quota/],
    'core/gateway/http/gateway.ts': [/bearer/],
    'core/import/values.ts': [/^\/\^(?:\(\?:Bearer|authorization)/],
  };

  it('only one place decides about secrets by a pattern (E4)', () => {
    const found: string[] = [];
    for (const full of filesBelow(root)) {
      const file = path.relative(root, full).split(path.sep).join('/');
      if (/^core\/base\/secret\w*\.ts$/.test(file)) continue;
      const check = (pattern: string): void => {
        if (telling.test(pattern) && !others[file]?.some((known) => known.test(pattern)))
          found.push(`${file}: ${pattern}`);
      };
      const visit = (node: ts.Node): void => {
        if (ts.isRegularExpressionLiteral(node)) check(node.text);
        if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp')
          check(node.getText().replace(/\$\{\w+\}/g, ''));
        ts.forEachChild(node, visit);
      };
      visit(ts.createSourceFile(full, readFileSync(full, 'utf8'), ts.ScriptTarget.Latest, true));
    }
    assert.deepEqual(found, []);
  });
});
