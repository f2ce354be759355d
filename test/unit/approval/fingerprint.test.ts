/** Changes of an entry with and without another launch (S1). */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describeLaunch, type LaunchDescription } from '../../../src/core/approval/fingerprint.js';
import { parseMindsFile } from '../../../src/core/config/read/parse.js';

const env = { TOKEN: 'host-secret-1', OTHER: 'host-secret-1' };

function describe1(
  entry: string,
  file = '/ws/.minds/mcp.yaml',
  variables: Record<string, string> = env,
  variablesOfFile = '',
  programs: readonly string[] = [],
): LaunchDescription {
  const text = entry.startsWith('version') ? entry : `version: 1\nservers:\n  demo: ${entry}\n`;
  const folder = file.replace('/.minds/mcp.yaml', '');
  const parsed = parseMindsFile(
    { file, folder, text },
    {
      env: variables,
      directoryExists: () => true,
      secret: () => 'kept-secret',
      envFile: () => ({ kind: 'text', text: variablesOfFile }),
      finders: { programs: () => programs, deciding: () => [] },
    },
  );
  assert.equal(parsed.kind, 'accepted');
  const [server] = parsed.kind === 'accepted' ? parsed.servers : [];
  assert.ok(server?.kind === 'valid', JSON.stringify(parsed.problems));
  return describeLaunch(server.definition);
}

const stdio =
  "{ transport: stdio, command: node, args: [a.js, '-x'], cwd: sub, env: { API_TOKEN: literal-secret-2, T: { env: TOKEN } } }";
const http =
  "{ transport: streamable_http, url: 'https://example.com/mcp', headers: { X-Mode: literal-secret-3, Authorization: { prefix: 'Bearer ', env: TOKEN } } }";

const referring =
  "{ transport: stdio, command: a, args: [{ prefix: '--token=', env: TOKEN, suffix: '; x', default: d }] }";
const byProgram =
  "{ transport: stdio, command: a, env: { T: { command: [op, read, --token, abcdefgh1, 'op://item/a'], suffix: ' x y' } } }";
const signingIn =
  "{ transport: streamable_http, url: 'https://h/', oauth: { grant: client_credentials, issuer: 'https://a.example', clientId: one, clientSecret: literal-secret-6, scopes: [read] } }";
const signedInBefore =
  "{ transport: streamable_http, url: 'https://h/', oauth: { clientId: one, redirectPort: 4001 } }";
const toAddress =
  "{ transport: streamable_http, url: { prefix: 'https://example.com/?key=', env: TOKEN } }";

describe('fingerprint of a launch (S1)', () => {
  it('programs of the workspace are part of the launch, with their paths in the review (S1n)', () => {
    const withPrograms = (...programs: string[]): LaunchDescription =>
      describe1(stdio, undefined, undefined, undefined, programs);
    const [plain, one] = [describe1(stdio), withPrograms('/ws/node_modules/.bin/node')];
    assert.deepEqual(
      one.parts.filter(({ label }) => label === 'program').map(({ shown }) => shown),
      ['/ws/node_modules/.bin/node'],
    );
    const all = [
      plain,
      one,
      withPrograms('/ws/bin/node'),
      withPrograms('/ws/node_modules/.bin/node', '/ws/x'),
    ];
    assert.equal(new Set(all.map(({ fingerprint }) => fingerprint)).size, all.length);
    assert.equal(withPrograms().fingerprint, plain.fingerprint);
  });

  const rugPulls: [string, string, string, string][] = [
    ['another command', stdio, 'command: node', 'command: nodee'],
    ['another argument', stdio, 'a.js', 'b.js'],
    ['one argument more', stdio, "'-x'", "'-x', '-y'"],
    ['one argument less', stdio, ", '-x'", ''],
    ['other order of arguments', stdio, "a.js, '-x'", "'-x', a.js"],
    ['two arguments joined to one', stdio, "a.js, '-x'", "'a.js -x'"],
    ['two arguments joined by a comma', stdio, "a.js, '-x'", "'a.js,-x'"],
    ['another working directory', stdio, 'cwd: sub', 'cwd: sub2'],
    ['no working directory', stdio, 'cwd: sub, ', ''],
    ['another name in env', stdio, 'API_TOKEN:', 'NODE_OPTIONS:'],
    ['another literal in env', stdio, 'literal-secret-2', 'literal-secret-4'],
    ['one name less in env', stdio, 'API_TOKEN: literal-secret-2, ', ''],
    ['another variable behind a name, though of the same value', stdio, 'env: TOKEN', 'env: OTHER'],
    ['a variable in place of a literal', stdio, 'literal-secret-2', '{ env: TOKEN }'],
    [
      'a literal in place of a variable, though of the same value',
      stdio,
      '{ env: TOKEN }',
      'host-secret-1',
    ],
    ['another transport', stdio, stdio, http],
    ['another host', http, 'example.com', 'example.org'],
    ['another path', http, '/mcp', '/mcp2'],
    ['another scheme', http, 'https:', 'http:'],
    ['credentials in the address', http, 'https://', 'https://user:password@'],
    ['another name of a header', http, 'X-Mode', 'X-Other'],
    [
      'another issuer',
      "{ transport: streamable_http, url: 'https://h/', oauth: { issuer: 'https://a.example' } }",
      'a.example',
      'b.example',
    ],
    ['another literal of a header', http, 'literal-secret-3', 'literal-secret-5'],
    ['another variable behind a header', http, 'env: TOKEN', 'env: OTHER'],
    ['another prefix of a header', http, "'Bearer '", "'Basic '"],
    ['a variable in place of an argument', stdio, "'-x'", '{ env: TOKEN }'],
    ['another variable in an argument', referring, 'env: TOKEN', 'env: OTHER'],
    ['another text in front of it', referring, '--token=', '--tokens='],
    ['another text behind it', referring, '; x', '; y'],
    ['another default', referring, 'default: d', 'default: e'],
    ['no default', referring, ', default: d', ''],
    [
      'a text that says the same as a reference',
      referring,
      "{ prefix: '--token=', env: TOKEN, suffix: '; x', default: d }",
      `'"--token=" and the variable TOKEN and "; x", or "d" if that is not set'`,
    ],
    ['another variable in an address', toAddress, 'env: TOKEN', 'env: OTHER'],
    ['a secret in place of a variable', referring, 'env: TOKEN', 'secret: TOKEN'],
    ['another host in front of a variable', toAddress, 'example.com', 'example.org'],
    ['a program in place of a variable', stdio, 'env: TOKEN', 'command: [TOKEN]'],
    ['another program', byProgram, 'op,', 'opp,'],
    ['another argument of a program', byProgram, 'item/a', 'item/b'],
    ['another secret among the arguments of a program', byProgram, 'abcdefgh1', 'abcdefgh2'],
    ['two arguments of a program joined to one', byProgram, 'op, read', "'op, read'"],
    [
      'an argument of a program in place of the text behind it',
      byProgram,
      "], suffix: ' x y'",
      ", ' x y']",
    ],
    ['another client that signs in', signingIn, 'clientId: one', 'clientId: two'],
    ['another secret of that client', signingIn, 'literal-secret-6', 'literal-secret-7'],
    ['a variable in place of that secret', signingIn, 'literal-secret-6', '{ env: TOKEN }'],
    ['another scope', signingIn, 'scopes: [read]', 'scopes: [write]'],
    ['one scope more', signingIn, 'scopes: [read]', 'scopes: [read, write]'],
    ['another port of a sign-in', signedInBefore, '4001', '4002'],
    ['no port of a sign-in', signedInBefore, ', redirectPort: 4001', ''],
    ['no client that signs in', signedInBefore, 'clientId: one, ', ''],
    ['a session id', http, 'headers:', 'sessionId: some-session, headers:'],
  ];
  for (const [what, entry, from, to] of rugPulls) {
    it(`a fingerprint changes with ${what}`, () => {
      const changed = entry.replace(from, to);
      assert.notEqual(changed, entry);
      assert.notEqual(describe1(changed).fingerprint, describe1(entry).fingerprint);
    });
  }

  it('a fingerprint changes with the credentials of an address, and with a secret in its query', () => {
    const at = (url: string): string =>
      describe1(`{ transport: streamable_http, url: '${url}' }`).fingerprint;
    assert.notEqual(at('https://u:secret-aaaa@h/'), at('https://u:secret-bbbb@h/'));
    assert.notEqual(at('https://h/?token=secret-aaaa'), at('https://h/?token=secret-bbbb'));
  });

  it('a fingerprint changes with the file, the id and the session id', () => {
    assert.notEqual(
      describe1(stdio, '/other/.minds/mcp.yaml').fingerprint,
      describe1(stdio).fingerprint,
    );
    const renamed = `version: 1\nservers:\n  demo2: ${stdio}\n`;
    assert.notEqual(describe1(renamed).fingerprint, describe1(stdio).fingerprint);
    const session = (id: string): string =>
      describe1(`{ transport: streamable_http, url: 'https://h/', sessionId: ${id} }`).fingerprint;
    assert.notEqual(session('session-a'), session('session-b'));
  });

  const harmless: [string, string, string][] = [
    ['filters', stdio, 'tools: { whitelist: [a], blacklist: [b] }, '],
    ['transforms', stdio, 'transform: [{ prefix: x_ }], '],
    ['time limits', stdio, 'timeouts: { call: 1s, connect: 2s }, '],
    ['`enabled`', stdio, 'enabled: false, '],
    ['`truely-stateless`', stdio, 'truely-stateless: true, '],
    ['prompts and resources', http, 'prompts: { whitelist: [a] }, resources: { blacklist: [b] }, '],
  ];
  for (const [what, entry, added] of harmless) {
    it(`a fingerprint does not change with ${what}`, () => {
      assert.equal(
        describe1(entry.replace('{ ', `{ ${added}`)).fingerprint,
        describe1(entry).fingerprint,
      );
    });
  }

  it('a fingerprint does not change with the order of env, the spelling in YAML, a comment, or the place in the file', () => {
    const block = `version: 1
# first
servers:
  demo: # the one
    command: "node"
    env:
      T: { env: TOKEN }
      API_TOKEN: literal-secret-2
    cwd: sub
    args: ["a.js", -x]
    transport: stdio
`;
    assert.equal(describe1(block).fingerprint, describe1(stdio).fingerprint);
  });

  it('a fingerprint does not change with the value of a host variable, because the person set it', () => {
    for (const entry of [stdio, referring, toAddress]) {
      const other = describe1(entry, undefined, { ...env, TOKEN: 'another-value' });
      assert.equal(other.fingerprint, describe1(entry).fingerprint);
    }
  });
});

describe('variables of a file in a launch (C2b)', () => {
  const entry = '{ transport: stdio, command: a, envFile: .env }';
  const given = (text: string, of = entry): LaunchDescription =>
    describe1(of, undefined, env, text);
  const usual =
    'MODE=ci\nNODE_OPTIONS=--require ./a.js\nPASSWORD_COMMAND=op\nAPI_TOKEN=literal-secret-1\nDB=postgres://me:literal-secret-2@h/db';

  it('the variables of a file are shown, and the secrets among them are masked', () => {
    const parts = given(usual).parts.filter(({ label }) => label === 'env file');
    assert.deepEqual(
      parts.map(({ shown }) => shown.replaceAll('\\', '/').replace(/.*(?=\/ws\/\.env)/, '')),
      [
        '/ws/.env',
        'API_TOKEN = •••   (may be exchanged)',
        'DB = "postgres://me:•••@h/db"',
        'MODE = "ci"',
        'NODE_OPTIONS = "--require ./a.js"',
        'PASSWORD_COMMAND = "op"',
      ],
    );
  });

  for (const [what, from, to] of [
    ['another value', 'ci', 'dev'],
    ['another option that decides what runs', './a.js', './b.js'],
    ['another name', 'MODE', 'MODUS'],
    ['one variable more', 'MODE=ci', 'MODE=ci\nPATH=./bin'],
    ['one secret less', 'API_TOKEN=literal-secret-1\n', ''],
    ['a program in place of a secret', 'literal-secret-1', './evil.sh'],
    ['another host beside a secret', '@h/', '@evil.example/'],
    ['another program that gives a secret', 'PASSWORD_COMMAND=op', 'PASSWORD_COMMAND=evil'],
    ['another secret in an address', 'secret-2', 'secret-9'],
  ] as const)
    it(`the variables of a file make another launch for ${what}`, () => {
      assert.ok(usual.includes(from));
      assert.notEqual(given(usual.replace(from, to)).fingerprint, given(usual).fingerprint);
    });

  it('another part of a partly masked value makes another launch', () => {
    for (const [value, other] of [
      [
        'NODE_OPTIONS=--import=data:text/javascript,var%20token=%22a1%22',
        'NODE_OPTIONS=--import=data:text/javascript,var%20token=%65vil',
      ],
      ['UV_INDEX_URL=https://me:abcdefgh1@h/simple', 'UV_INDEX_URL=https://me:abcdefgh2@h/simple'],
      ['IMAGE=h/tool:sk-abcdefgh12345678', 'IMAGE=h/tool:sk-abcdefgh12345679'],
      ['IMAGE_TOKEN=abcdefgh1', 'IMAGE_TOKEN=abcdefgh2'],
    ] as const)
      assert.notEqual(given(value).fingerprint, given(other).fingerprint, value);
  });

  it('whole digests distinguish masked values, and hold no secret', () => {
    const [, part] = given('REQUEST=Authorization: Bearer abcdefgh1').parts.filter(
      ({ label }) => label === 'env file',
    );
    assert.equal(part?.shown, 'REQUEST = "Authorization: Bearer •••"');
    assert.match(part?.digest ?? '', /^[0-9a-f]{64}$/);
  });

  it('another file makes another launch', () => {
    assert.notEqual(
      given(usual, entry.replace('.env', 'b.env')).fingerprint,
      given(usual).fingerprint,
    );
    assert.notEqual(
      given('', entry.replace(', envFile: .env', '')).fingerprint,
      given('').fingerprint,
    );
  });

  it('another secret, another order, and a variable that env has too make no other launch', () => {
    for (const [from, to] of [
      ['secret-1', 'secret-9'],
      ['MODE=ci\n', '# c\nMODE=ci # d\n'],
    ] as const)
      assert.equal(given(usual.replace(from, to)).fingerprint, given(usual).fingerprint, to);
    const own = entry.replace(' }', ', env: { MODE: own } }');
    assert.equal(given(usual.replace('ci', 'dev'), own).fingerprint, given(usual, own).fingerprint);
  });
});

describe('description of a launch', () => {
  const shown = (entry: string): string => JSON.stringify(describe1(entry));

  it('a description holds no secret in clear', () => {
    const all = [
      stdio,
      http,
      "{ transport: streamable_http, url: 'https://user:literal-secret-5@h/?api_key=literal-secret-6', sessionId: literal-secret-7 }",
      "{ transport: streamable_http, url: 'https://h/', headers: { A: { prefix: 'literal-secret-8 ', env: TOKEN } } }",
      "{ transport: stdio, command: npx, args: [mcp-remote, --header, 'Authorization: Bearer literal-secret-9', '--api-key=literal-secret-0'] }",
      "{ transport: stdio, command: npx, env: { HTTPS_PROXY: 'http://user:literal-secret-1@proxy', npm_config_token: literal-secret-1 } }",
    ];
    for (const entry of all) assert.doesNotMatch(shown(entry), /secret-\d/, entry);
  });

  it('a description shows the sources of values', () => {
    const parts = describe1(http).parts.map(({ label, shown: text }) => `${label}: ${text}`);
    assert.deepEqual(parts, [
      'transport: streamable_http',
      'address: https://example.com/mcp',
      'header: Authorization = "Bearer " and the variable TOKEN',
      'header: X-Mode = •••',
    ]);
  });

  it('a description shows the text around a reference in arguments and addresses, and masks only secrets of it', () => {
    const part = (entry: string, index: number): string | undefined =>
      describe1(entry).parts[index]?.shown;
    assert.equal(
      part(referring, 2),
      '"--token=" and the variable TOKEN and "; x", or "d" if that is not set',
    );
    assert.equal(part(toAddress, 1), '"https://example.com/?key=" and the variable TOKEN');
    const withUser = toAddress.replace('https://', 'https://me:hunter22@');
    assert.doesNotMatch(JSON.stringify(describe1(withUser)), /hunter22|host-secret/);
    assert.notEqual(
      describe1(withUser).fingerprint,
      describe1(withUser.replace('hunter22', 'hunter23')).fingerprint,
      'what is masked counts',
    );
  });

  it('a description shows the text around a reference in a variable that decides what runs, and masks it beside a secret', () => {
    const around = (name: string): string =>
      shown(`{ transport: stdio, command: a, env: { ${name}: { prefix: 'evil1', env: TOKEN } } }`);
    assert.match(around('IMPORT_KEY'), /evil1/);
    assert.doesNotMatch(around('API_TOKEN'), /evil1/);
  });

  it('a description shows the whole program of a value command, and masks only its secrets', () => {
    const [, , , part] = describe1(byProgram).parts;
    assert.equal(
      part?.shown,
      'T = the output of [op, read, --token, abcdefgh1, op://item/a] and " x y"',
    );
    const inOption = byProgram.replace('--token, ', '--token=');
    const masked = describe1(inOption).parts[3];
    assert.equal(
      masked?.shown,
      'T = the output of [op, read, --token=•••, op://item/a] and " x y"',
    );
    assert.notEqual(masked?.digest, undefined);
    const script =
      "{ transport: stdio, command: a, args: [{ command: [sh, -c, 'token=abcdefgh1 ./evil.sh'] }] }";
    assert.equal(
      describe1(script).parts[2]?.shown,
      'the output of [sh, -c, "token=abcdefgh1 ./evil.sh"]',
    );
  });

  it('a description shows the variables by which a value decides what runs', () => {
    assert.match(
      shown("{ transport: stdio, command: a, env: { NODE_OPTIONS: '--require ./evil.js' } }"),
      /evil\.js/,
    );
    assert.match(
      shown('{ transport: stdio, command: a, env: { LD_PRELOAD: ./evil.so } }'),
      /evil\.so/,
    );
  });

  it('a description hides no shell syntax behind a likely secret', () => {
    const argument =
      'curl http://h/?token=abc;rm$IFS-rf$IFS~ --password=x;evil http://a:$(evil)@h/';
    assert.equal(
      describe1(
        `{ transport: stdio, command: sh, args: ['-c', '${argument}'] }`,
      ).parts[3]?.shown.includes(';rm$IFS-rf$IFS~ --password=x;evil http://a:$(evil)@h/'),
      true,
    );
  });

  const environment = (name: string, value: string): string | undefined =>
    describe1(
      JSON.stringify({ transport: 'stdio', command: 'a', env: { [name]: value } }),
    ).parts.at(-1)?.shown;
  const argument = (...args: string[]): string | undefined =>
    describe1(JSON.stringify({ transport: 'stdio', command: 'sh', args })).parts[1 + args.length]
      ?.shown;

  for (const [name, value] of [
    ['NODE_OPTIONS', '--require ./evil.js --token=abcdefgh1234'],
    ['LD_PRELOAD', './evil.so'],
    ['BASH_ENV', './secret-token.sh'],
    ['BASH_FUNC_auth%%', '() { ./evil.sh; }'],
    ['HOME', './evil'],
    ['XDG_CONFIG_HOME', 'evil'],
    ['BUN_OPTIONS', '--preload=./evil.ts'],
    ['DOTNET_STARTUP_HOOKS', 'evil.dll'],
    ['PROMPT_COMMAND', './evil.sh'],
    ['MAKEFLAGS', '-f evil.mk'],
    ['ANTHROPIC_BASE_URL', 'https://evil.example'],
    ['A_NAME_THAT_NOBODY_KNOWS', 'evil'],
    ['A_TOKEN', 'x; ./evil.sh'],
    ['A_TOKEN', 'x; evil'],
    ['GIT_CONFIG_KEY_0', 'alias.token'],
    ['A_TOKEN', '$(./evil.sh)'],
    ['A_TOKEN', './evil.sh'],
    ['RESTIC_PASSWORD_COMMAND', 'evil'],
    ['GIT_AUTH_HELPER', 'evil'],
    ['AUTH_PLUGIN', 'evil'],
    ['SSH_ASK_PASS', 'evil'],
    ['GIT_CONFIG_PARAMETERS', "'credential.helper=!evil'"],
    ['GIT_CONFIG_PARAMETERS', "'core.askPass=evil'"],
  ] as const)
    it(`a description shows the whole value of ${name}: ${value}`, () =>
      assert.equal(environment(name, value), `${name} = "${value}"`));

  it('a description masks only the secret part of a value', () => {
    assert.equal(environment('A_TOKEN', 'hunter22'), 'A_TOKEN = •••');
    assert.match(
      environment('PROXY', 'http://me:hunter22@proxy.example:1') ?? '',
      /^PROXY = "http:\/\/.*•••@proxy\.example:1"$/,
    );
  });

  it('a description masks neither the program nor its folder', () => {
    const entry = JSON.stringify({
      transport: 'stdio',
      command: './token=evil1',
      cwd: '/ws/token=evil2',
    });
    assert.deepEqual(
      describe1(entry).parts.map(({ shown: text }) =>
        text.replace(/^[A-Z]:/, '').replaceAll('\\', '/'),
      ),
      ['stdio', './token=evil1', '/ws/token=evil2'],
    );
  });

  for (const name of [
    'tools',
    'my tools',
    'a\u200bb',
    'a    b',
    'a\nb',
    'a\\b',
    '"',
    'token=abcdef',
  ])
    it(`a description shows the folder as it is: ${JSON.stringify(name)}`, () => {
      const cwd = path.resolve('/ws', name);
      assert.equal(
        describe1(JSON.stringify({ transport: 'stdio', command: 'a', cwd })).directory,
        cwd,
      );
    });

  for (const words of [
    ['-c', 'credential.helper=!evil'],
    ['-c', 'core.askPass=evil'],
    ['--password-command=evil'],
    ['--token-command', 'evil1234'],
  ])
    it(`a description shows what an argument runs: ${words.join(' ')}`, () => {
      const shown = argument(...words) ?? '';
      assert.equal(shown.startsWith('"') ? JSON.parse(shown) : shown, words.at(-1));
    });

  it('a description masks nothing of a script', () => {
    assert.equal(
      argument('-c', 'authorization=bearer ./evil.sh'),
      '"authorization=bearer ./evil.sh"',
    );
    assert.equal(
      argument('-c', 'authorization=bearer evilprogram1'),
      '"authorization=bearer evilprogram1"',
    );
  });

  it('a description pushes nothing out of sight, and no value looks like our mask (S1a)', () => {
    for (const blank of '\u3164\u115f\u2800\u00a0\u2003\u200b')
      assert.equal(argument(`a${blank}b`), `"a\\u{${blank.codePointAt(0)?.toString(16)}}b"`);
    assert.equal(argument(`a${' '.repeat(300)}; ./evil.sh`), '"a\\u{20 × 300}; ./evil.sh"');
    assert.equal(argument('•••'), '"•••"');
  });

  it('a description escapes invisible characters', () => {
    const [, , argument] = describe1(
      '{ transport: stdio, command: a, args: ["x\\u202Etxt\\u200B\\n"] }',
    ).parts;
    assert.equal(argument?.shown, '"x\\u{202e}txt\\u{200b}\\n"');
  });
});
