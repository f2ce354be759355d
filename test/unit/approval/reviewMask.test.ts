/** Masks of a review (S1a), and values open to exchange without a question (C2). */
import assert from 'node:assert/strict';
import { maskedArgument, mayBeExchanged } from '../../../src/core/approval/reviewMask.js';

describe('masks of a review (S1a)', () => {
  for (const [argument, shown] of [
    ['--token=abcdefgh1', '--token=•••'],
    ['-apiKey=abcdefgh1', '-apiKey=•••'],
    ['Authorization: Bearer abcdefgh1', 'Authorization: Bearer •••'],
    ['authorization:Bearer abc/defgh+1==', 'authorization:Bearer •••'],
    ['--header=X-Api-Key: abcdefgh1', '--header=X-Api-Key: •••'],
    ['https://me:abcdefgh1@h/mcp?a=1&token=abcdefgh1#x', 'https://me:•••@h/mcp?a=1&token=•••#x'],
    ['--url=postgres://me:abcdefgh1@h/db', '--url=postgres://me:•••@h/db'],
  ] as const)
    it(`a mask hides the secret of ${argument}`, () => assert.equal(maskedArgument(argument), shown));

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

describe('values open to exchange without a question (C2)', () => {
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
