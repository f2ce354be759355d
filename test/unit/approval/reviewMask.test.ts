/** Masks of a review (S1e), and values open to exchange without a question (C2d). */
import assert from 'node:assert/strict';
import {
  maskedArgument,
  maskedVariable,
  mayBeExchanged,
} from '../../../src/core/approval/reviewMask.js';

describe('masks of a review (S1e)', () => {
  for (const [argument, shown] of [
    ['--token=abcdefgh1', '--token=•••'],
    ['-apiKey=abcdefgh1', '-apiKey=•••'],
    ['Authorization: Bearer abcdefgh1', 'Authorization: Bearer •••'],
    ['authorization:Bearer abc/defgh+1==', 'authorization:Bearer •••'],
    ['--header=X-Api-Key: abcdefgh1', '--header=X-Api-Key: •••'],
    ['https://me:abcdefgh1@h/mcp?a=1&token=abcdefgh1#x', 'https://me:•••@h/mcp?a=1&token=•••#x'],
    ['--url=postgres://me:abcdefgh1@h/db', '--url=postgres://me:•••@h/db'],
  ] as const)
    it(`a mask hides the secret of ${argument}`, () =>
      assert.equal(maskedArgument(argument), shown));

  for (const argument of [
    'sk-evil1234567890abcdef',
    'evil-a1B2c3D4e5F6g7H8',
    'ghp_0123456789abcdef',
    'registry.example/a1B2c3D4e5F6g7H8i9:token',
    'token:abcdefgh1',
    'abcdefgh1',
    'me:abcdefgh1',
    'API_TOKEN=abcdefgh1',
    '--import=data:text/javascript,var%20token=%22abcdefgh1%22',
    '--import=data://text/javascript,0?token=abcdefgh1',
    '--import=./token-a1B2c3D4e5F6g7H8.mjs',
    '--import=sk-evil1234567890abcdef',
    '--token-command=abcdefgh1',
    '--token=./abcdefgh1',
    'https://evil.example\\@good.example/',
    'https://h/a1B2c3D4e5F6g7H8i9J0/tool.tgz',
    'https://h/?token=abcdefgh1&$token',
    'authorization: require abcdefgh1',
  ])
    it(`a mask leaves this as it is, because it may run: ${argument}`, () =>
      assert.equal(maskedArgument(argument), argument));
});

describe('a name that means something that runs (S1e)', () => {
  /** Each spelling of an option, and the variable of the same name. */
  const spellings = (words: string[]): string[] => {
    const [first = '', ...rest] = words;
    const camel = first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
    return [
      words.join('-'),
      words.join('_'),
      words.join('_').toUpperCase(),
      camel,
      `acme-${words.join('-')}`,
    ];
  };
  for (const words of [
    ['import', 'key'],
    ['require', 'auth'],
    ['key', 'loader'],
    ['auth', 'module', 'key'],
    ['preload', 'token'],
    ['plugin', 'secret'],
    ['hook', 'password'],
    ['node', 'auth', 'loader'],
    ['git', 'ssh', 'command', 'key'],
    ['script', 'api', 'key'],
  ])
    for (const name of spellings(words)) {
      it(`the value of the option --${name} is shown`, () => {
        for (const value of ['evil', 'evil_pkg', 'a1B2c3D4e5F6g7H8i9J0'])
          for (const dashes of ['-', '--'])
            assert.equal(maskedArgument(`${dashes}${name}=${value}`), `${dashes}${name}=${value}`);
      });

      it(`the value of the variable ${name} is shown, and never exchanged without a question`, () => {
        assert.equal(maskedVariable(name, 'evil'), 'evil');
        assert.equal(mayBeExchanged(name), false);
      });
    }

  for (const name of ['importkey', 'KEYLOADER', 'modulekey', 'authplugin', 'IMPORTToken'])
    it(`the value of --${name} is shown, because a word for code begins or ends the name`, () =>
      assert.equal(maskedArgument(`--${name}=evil`), `--${name}=evil`));

  for (const value of [
    'evil.js',
    'evil.loader.mjs',
    'evil.so',
    'module:evil',
    'npm:evil@1',
    'evil@1.2.3',
    'evil==1.2',
  ])
    it(`a value that looks like a program is shown behind each name: ${value}`, () => {
      for (const name of ['auth', 'session', 'token', 'api-key', 'password'])
        assert.equal(maskedArgument(`--${name}=${value}`), `--${name}=${value}`);
      for (const name of ['AUTH', 'API_TOKEN']) assert.equal(maskedVariable(name, value), value);
      assert.equal(maskedArgument(`https://h/x?token=${value}`), `https://h/x?token=${value}`);
    });

  for (const name of ['auth', 'pat', 'session', 'key', 'sig', 'sort-key', 'acme-auth'])
    it(`--${name} may mean something else than a secret, so only a value with the shape of a secret is masked`, () => {
      for (const value of ['evil', 'evil_pkg', 'evil2', 'evil.loader'])
        assert.equal(maskedArgument(`--${name}=${value}`), `--${name}=${value}`);
      for (const value of [
        'ghp_0123456789abcdef',
        '550e8400-e29b-41d4-a716-446655440000',
        'a1B2c3D4e5F6g7H8i9J0',
      ])
        assert.equal(maskedArgument(`--${name}=${value}`), `--${name}=•••`);
    });

  for (const [name, value] of [
    ['token', 'abc123'],
    ['password', 'hunter2'],
    ['api-key', 'abc'],
    ['proxy-password', 'hunter2'],
    ['home-assistant-token', 'eyJhbGciOi.a1b2.c3d4'],
    ['subscription-key', 'a1B2c3D4e5F6g7H8i9J0'],
    ['webhook-secret', 'hunter2'],
    ['description-token', 'hunter2'],
    ['binance-api-key', 'hunter2'],
    ['secret', 'a1B2c3D4e5F6g7H8i9J0'],
  ] as const)
    it(`a secret stays masked: --${name}=${value}`, () => {
      assert.equal(maskedArgument(`--${name}=${value}`), `--${name}=•••`);
      const variable = name.replaceAll('-', '_').toUpperCase();
      assert.equal(maskedVariable(variable, value), '•••');
    });

  it('a parameter of an address that names code is shown, and a secret beside it is masked', () => {
    assert.equal(
      maskedArgument('--x=https://h/p?import-key=evil&token=abcdefgh1&keyLoader=evil'),
      '--x=https://h/p?import-key=evil&token=•••&keyLoader=evil',
    );
  });

  it('a header that names code is shown', () => {
    assert.equal(maskedArgument('import-token: evil'), 'import-token: evil');
    assert.equal(maskedArgument('X-Api-Key: abcdefgh1'), 'X-Api-Key: •••');
  });
});

describe('values open to exchange without a question (C2d)', () => {
  for (const name of [
    'API_TOKEN',
    'GITHUB_TOKEN',
    'OPENAI_API_KEY',
    'openaiApiKey',
    'DB_PASSWORD',
    'PGPASSWORD',
    'CLIENT_SECRET',
  ])
    it(`the value of ${name} may be exchanged`, () => assert.equal(mayBeExchanged(name), true));

  for (const name of [
    'MODE',
    'NODE_OPTIONS',
    'IMAGE_TOKEN',
    'TOKEN_IMAGE',
    'GIT_CONFIG_KEY_0',
    'GIT_TOKEN',
    'NPM_CONFIG__AUTHTOKEN',
    'npm_config_token',
    'LD_TOKEN',
    'DYLD_SECRET',
    'PYTHONTOKEN',
    'TOKEN_COMMAND',
    'COMMAND_TOKEN',
    'API_TOKEN_PATH',
    'UV_INDEX_URL',
    'UV_INDEX_A_PASSWORD',
    'PATH',
    'PWD',
    'SESSION',
    'SORT_KEY',
  ])
    it(`the value of ${name} may decide what runs, so it may not be exchanged`, () =>
      assert.equal(mayBeExchanged(name), false));
});
