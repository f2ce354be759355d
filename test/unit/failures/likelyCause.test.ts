import assert from 'node:assert/strict';
import { clueIn, likelyCause } from '../../../src/core/failures/likelyCause.js';

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
    [
      'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.',
      /Docker is not running/,
    ],
    ["Unable to find image 'x:latest' locally", /Docker did not find the image/],
    [
      "Unable to find image 'x:latest' locally\nStatus: Downloaded newer image for x:latest\nIt broke",
      /in its last output/,
    ],
    [
      'Unable to find image \'x\' locally\ndocker: Error response from daemon: Head "https://r.test/v2/x": unauthorized: authentication required',
      /wants a login/,
    ],
    ['Error: Unauthorized', /in its last output/],
    [
      'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock',
      /may not use Docker/,
    ],
    ['the input device is not a TTY', /-t wants a terminal/],
    ['No version is set for command npx', /version manager/],
    [
      "rbenv: x: command not found\n\nThe `x' command exists in these Ruby versions:\n  3.2.0",
      /version manager/,
    ],
    [
      '/usr/bin/env: ‘node’: No such file or directory',
      /starts node, which is in no folder of PATH/,
    ],
    ["env: can't execute 'python3': No such file or directory", /starts python3/],
    ['sh: 1: tsx: not found', /is not installed/],
    [
      'NotCapable: Requires net access to "x.test", run again with the --allow-net flag',
      /Deno does not permit net access/,
    ],
    ["x: libc.so.6: version `GLIBC_2.38' not found (required by x)", /newer system.*GLIBC_2\.38/],
    ['x: error while loading shared libraries: libssl.so.1.1: cannot open', /libssl\.so\.1\.1/],
    ['RpcError: NOT_FOUND: the project is missing', /in its last output/],
    ["Missing option '--token'.", /needs an argument that args does not have: --token/],
    ['Error: listen EADDRINUSE: address already in use :::3000', /port that it needs is taken/],
    ['GITHUB_PERSONAL_ACCESS_TOKEN not set', /variable of its environment/],
    ['Please set BRAVE_API_KEY', /variable of its environment/],
    ['Error: API key is required', /variable of its environment/],
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

  for (const words of [
    'Error: listen EADDRINUSE: address already in use :::3000',
    'docker: Error response from daemon: Conflict. The container name "/x" is already in use by container "0f3b".',
    'Bind for 0.0.0.0:8080 failed: port is already allocated.',
    'Error: Browser is already in use for /home/a/.cache/mcp-chrome, use --isolated',
    'sqlite3.OperationalError: database is locked',
    'IO Error: Could not set lock on file "/x.db": Conflicting lock is held',
    'Error: Another instance of x is already running (pid 3)',
  ]) {
    it(`something is taken: ${words}`, () => {
      assert.equal(clueIn([words])?.isTaken, true);
    });
  }

  it('words about a use prove nothing about another instance (X3d)', () => {
    for (const words of [
      'Using config file x; region in use: eu',
      'Port 3000 is in use, trying 3001',
    ])
      assert.equal(clueIn([words])?.isTaken, undefined, words);
  });

  it('an exit code of a shell counts only if the program wrote nothing (X3d)', () => {
    for (const code of [126, 127]) {
      const exit = { code, signal: null };
      assert.match(likelyCause(exit, []).cause, /A shell/);
      assert.match(likelyCause(exit, ['it broke']).cause, /in its last output/);
    }
  });

  const named: [words: string, cause: string, fix: RegExp][] = [
    [
      'Error: HubSpot access token is required. Set PRIVATE_APP_ACCESS_TOKEN in your environment variables and retry.',
      'It seems to miss a variable of its environment: PRIVATE_APP_ACCESS_TOKEN.',
      /`env: \{ PRIVATE_APP_ACCESS_TOKEN: \{ env: PRIVATE_APP_ACCESS_TOKEN \} \}`/,
    ],
    [
      'Either FIGMA_API_KEY or FIGMA_OAUTH_TOKEN is required (via CLI argument or .env file)',
      'It seems to miss a variable of its environment: FIGMA_API_KEY.',
      /FIGMA_API_KEY: \{ env/,
    ],
    [
      "KeyError: 'ACME_API_TOKEN'",
      'It seems to miss a variable of its environment: ACME_API_TOKEN.',
      /ACME_API_TOKEN/,
    ],
    [
      '/srv/start.sh: line 3: ACME_TOKEN: unbound variable',
      'It seems to miss a variable of its environment: ACME_TOKEN.',
      /ACME_TOKEN: \{ env/,
    ],
    [
      'Details: {"OBSIDIAN_API_KEY":["Required"]}',
      'It seems to miss a variable of its environment: OBSIDIAN_API_KEY.',
      /env of this server/,
    ],
    [
      'pydantic_core.ValidationError: 1 validation error for Settings\nACME_REGION\n  Field required [type=missing, input_value={}]',
      'It seems to miss a variable of its environment: ACME_REGION.',
      /ACME_REGION/,
    ],
    [
      'ATLASSIAN_URL, ATLASSIAN_EMAIL and ATLASSIAN_TOKEN must be set',
      'It seems to miss variables of its environment: ATLASSIAN_URL, ATLASSIAN_EMAIL, ATLASSIAN_TOKEN.',
      /Set them under env/,
    ],
    [
      "thread 'main' panicked at src/main.rs:9:50:\nDATABASE_URL must be set: NotPresent",
      'It seems to miss a variable of its environment: DATABASE_URL.',
      /DATABASE_URL/,
    ],
    [
      'Error: No access token was provided. Pass one with `--access-token` or via `SENTRY_ACCESS_TOKEN`.',
      'It seems to miss a variable of its environment: SENTRY_ACCESS_TOKEN.',
      /SENTRY_ACCESS_TOKEN/,
    ],
    [
      'getaddrinfo ENOTFOUND mcp.stripe.com',
      'It cannot reach mcp.stripe.com (ENOTFOUND).',
      /^Check the network or the proxy/,
    ],
    [
      'Error: connect ECONNREFUSED 127.0.0.1:1',
      'It cannot reach 127.0.0.1:1 (ECONNREFUSED).',
      /^Start that service, or correct its address in args or env\.$/,
    ],
    [
      "TypeError: fetch failed\n  [cause]: Error: connect ECONNREFUSED ::1:6379\n    code: 'ECONNREFUSED',",
      'It cannot reach ::1:6379 (ECONNREFUSED).',
      /^Start that service/,
    ],
    [
      "TypeError: fetch failed\n  code: 'ENOTFOUND',\n  syscall: 'getaddrinfo',\n  hostname: 'svelte.dev'",
      'It cannot reach svelte.dev (ENOTFOUND).',
      /proxy/,
    ],
    ['fetch failed', 'It cannot reach the network (fetch failed).', /proxy/],
    [
      'dial tcp: lookup api.acme.example on 127.0.0.53:53: no such host',
      'It cannot reach api.acme.example (no such host).',
      /proxy/,
    ],
    [
      'dial tcp 127.0.0.1:5432: connect: connection refused',
      'It cannot reach 127.0.0.1:5432 (connection refused).',
      /^Start that service/,
    ],
    [
      'psycopg2.OperationalError: connection to server at "db" (10.0.0.5), port 5432 failed: Connection refused',
      'It cannot reach 10.0.0.5:5432 (Connection refused).',
      /^Start that service/,
    ],
    [
      'ERROR: `chrome-devtools-mcp` does not support Node v18.20.8. Please upgrade to Node 20.19.0 LTS or a newer LTS.',
      'The server seems to need another version of Node.js than v18.20.8.',
      /Update Node\.js/,
    ],
    [
      'Node.js version v18.20.8 detected.\nThe Angular CLI requires a minimum Node.js version of v20.19 or v22.12.',
      'The server seems to need another version of Node.js than v18.20.8.',
      /Update Node\.js/,
    ],
    [
      'Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite\n    at x\n\nNode.js v18.20.8',
      'The server seems to need another version of Node.js than v18.20.8.',
      /Update Node\.js/,
    ],
    [
      'ReferenceError: File is not defined\n    at x\n\nNode.js v18.20.8',
      'The server seems to need another version of Node.js than v18.20.8.',
      /Update Node\.js/,
    ],
    [
      "Error: Cannot find module '../build/Release/keytar.node'\nRequire stack:\n- /srv/x.js",
      'Its native part keytar.node was not built when the package was installed, or was built for another Node.js.',
      /^Install it again/,
    ],
    [
      'Error: Could not locate the bindings file. Tried:\n → /x/build/better_sqlite3.node',
      'Its native part better_sqlite3.node was not built when the package was installed, or was built for another Node.js.',
      /^Install it again/,
    ],
    [
      'npm error code ETARGET\nnpm error notarget No matching version found for @acme/x@99.0.0.',
      'npm has no version 99.0.0 of @acme/x.',
      /version in args/,
    ],
    [
      'Usage: shadcn [options] [command]\nCommands:\n  init [options] initialize\n  mcp [options] MCP server',
      'It printed its usage: it wants a subcommand, such as mcp.',
      /^Add mcp to args/,
    ],
    [
      'ng <command>\n\nCommands:\n  ng mcp  Starts a server\n  ng new [name]  Creates',
      'It printed its usage: it wants a subcommand, such as mcp.',
      /^Add mcp/,
    ],
    [
      "error: missing required argument 'organization'",
      'It needs an argument that args does not have: organization.',
      /args/,
    ],
  ];
  for (const [words, cause, fix] of named) {
    it(`the cause and the fix name their subject: ${words.split('\n')[0]}`, () => {
      const found = likelyCause({ code: 1, signal: null }, words.split('\n'));
      assert.equal(found.cause, cause);
      assert.match(found.fix, fix);
    });
  }

  for (const [words, url] of [
    ['MCP Streamable HTTP Server listening on port 3001', 'http://127.0.0.1:3001/mcp'],
    [
      'INFO: Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)',
      'http://127.0.0.1:8000/mcp',
    ],
    ['Server started at http://localhost:8080/sse', 'http://localhost:8080/sse'],
    ['listening on [::]:4000', 'http://127.0.0.1:4000/mcp'],
  ] as const) {
    it(`a running program that listens on a port wants another transport: ${words}`, () => {
      const found = clueIn([words], { runs: true });
      assert.match(found?.cause ?? '', /^It listens on port \d+\.$/);
      assert.ok(found?.fix.includes(`\`url: ${url}\``), found?.fix);
      assert.equal(clueIn([words]), undefined);
    });
  }

  it('lines that are harmless on their own are no clue', () => {
    for (const line of [
      'LOG_LEVEL is not set, using the default',
      'MCP server running on stdio',
      'Could not reach telemetry (ENOTFOUND telemetry.example)',
      "KeyError: 'region'",
      'Error: Unexpected token u in JSON at position 0',
    ]) {
      assert.equal(clueIn([line], { runs: true }), undefined, line);
    }
  });

  it('a program that wrote nothing may have wrong arguments or variables', () => {
    assert.match(
      likelyCause({ code: 1, signal: null }, []).cause,
      /^It wrote nothing, so its arguments or variables/,
    );
  });

  it('an installation of npx that was ended halfway: which folder has to go', () => {
    const windows = 'C:\\Users\\Ada Lovelace\\AppData\\Local\\npm-cache\\_npx\\9833c18b2d85bc59';
    const unix = '/home/ada lovelace/.npm/_npx/9833c18b2d85bc59';
    for (const [folder, words] of [
      [
        unix,
        `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from ${unix}/node_modules/x/index.js`,
      ],
      [unix, `Error: Cannot find module 'zod'\nRequire stack:\n- ${unix}/node_modules/x/index.js`],
      [unix, `Error: Cannot find module '${unix}/node_modules/zod/index.js'`],
      [unix, `npm error code ENOTEMPTY\nnpm error path ${unix}/node_modules/zod`],
      [
        windows,
        `Error: Cannot find module 'zod'\nRequire stack:\n- ${windows}\\node_modules\\x\\index.js`,
      ],
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
