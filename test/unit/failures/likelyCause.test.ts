import assert from 'node:assert/strict';
import { likelyCause } from '../../../src/core/failures/likelyCause.js';

describe('likely cause', () => {
  const cases: [words: string, cause: RegExp][] = [
    [
      "npm error code E404\nnpm error 404 Not Found - GET https://example.com/@x%2fy\nnpm error 404  '@x/y@latest' is not in this registry.",
      /npm did not find the package/,
    ],
    ['npm error could not determine executable to run', /no command that npx could run/],
    ['npm ERR! code ENOTFOUND', /could not reach its registry \(ENOTFOUND\)/],
    ["Error: Cannot find module '/srv/index.js'", /Node did not find \/srv\/index\.js/],
    ["python: can't open file '/srv/x.py': [Errno 2]", /Python did not find the file \/srv\/x\.py/],
    ["ModuleNotFoundError: No module named 'mcp'", /Python has no module mcp/],
    ['× No solution found when resolving tool dependencies', /uv did not find/],
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock.', /Docker is not running/],
    ["Unable to find image 'x:latest' locally", /Docker did not find the image/],
    ['Error: listen EADDRINUSE: address already in use :::3000', /port that it needs is taken/],
    ['GITHUB_PERSONAL_ACCESS_TOKEN not set', /variable that it needs seems to be missing/],
    ['Please set BRAVE_API_KEY', /variable that it needs seems to be missing/],
    ['Error: API key is required', /variable that it needs seems to be missing/],
    ['SyntaxError: Unexpected token ?', /another version of Node/],
    ['error: unknown option --foo', /does not accept these arguments/],
    ['Usage: server <dir>', /does not accept these arguments/],
    ['sh: 1: frobnicate: command not found', /is not installed/],
    ['something else entirely', /in its last output/],
  ];
  for (const [words, cause] of cases) {
    it(words.split('\n')[0] ?? '', () => {
      assert.match(likelyCause({ code: 1, signal: null }, words.split('\n')).cause, cause);
    });
  }

  it('an installation of npx that was ended halfway: which folder has to go', () => {
    const windows = 'C:\\Users\\Ada Lovelace\\AppData\\Local\\npm-cache\\_npx\\9833c18b2d85bc59';
    const unix = '/home/ada lovelace/.npm/_npx/9833c18b2d85bc59';
    for (const [folder, words] of [
      [unix, `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from ${unix}/node_modules/x/index.js`],
      [unix, `Error: Cannot find module 'zod'\nRequire stack:\n- ${unix}/node_modules/x/index.js`],
      [unix, `Error: Cannot find module '${unix}/node_modules/zod/index.js'`],
      [unix, `npm error code ENOTEMPTY\nnpm error path ${unix}/node_modules/zod`],
      [windows, `Error: Cannot find module 'zod'\nRequire stack:\n- ${windows}\\node_modules\\x\\index.js`],
    ] as const) {
      const { cause, fix } = likelyCause({ code: 1, signal: null }, words.split('\n'));
      assert.match(cause, /is incomplete/);
      assert.ok(fix.includes(`Delete the folder ${folder} and`), fix);
    }
    for (const words of [
      "Cannot find module '/srv/_npx/index.js'",
      "Cannot find package 'x' imported from /srv/a.js",
    ]) {
      assert.match(likelyCause({ code: 1, signal: null }, [words]).cause, /Node did not find/);
    }
  });

  it('without words: by code and signal', () => {
    for (const [code, signal, cause] of [
      [0, null, /may not be an MCP server/],
      [126, null, /not allowed to run/],
      [127, null, /did not find the command/],
      [null, 'SIGKILL', /memory ran out/],
      [null, 'SIGSEGV', /or it crashed/],
    ] as const) {
      assert.match(likelyCause({ code, signal }, []).cause, cause);
    }
  });
});
