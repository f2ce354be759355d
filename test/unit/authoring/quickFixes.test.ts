import assert from 'node:assert/strict';
import type { Problem } from '../../../src/core/base/problem.js';
import type { ProblemCode } from '../../../src/core/base/problemCatalogue.js';
import {
  QuickFixes,
  type QuickFix,
  type QuickFixDeps,
} from '../../../src/core/authoring/quickFixes.js';
import { ConfigState } from '../../../src/core/config/read/merge.js';
import { applyEdits } from '../../../src/core/yaml/edits.js';
import { curate } from '../../../src/core/tools/curate.js';
import { definitionOf, parse } from '../config/fixtures.js';

const tools = ['browser_click', 'browser_type', 'open'];
const around: QuickFixDeps = {
  tools: () => tools.map((original) => ({ original, description: `Does "${original}".`, arguments: new Map([['url', { type: 'string' }], ['button', { enum: ['left', 'right'] }]]) })), // oxfmt-ignore
  restartable: (server) => server !== 'failed',
  variables: ['PATH', 'SEARCH_TOKEN'],
  isFree: (path) => path === 'new.env',
};

const head = 'version: 1\nservers:\n  a:\n    transport: stdio # how\n    command: npx\n';

/** The problem with the code, from the validator or from the curation of the tools. */
function problemOf(text: string, code: ProblemCode, offered: readonly string[] = tools): Problem {
  const found = parse(text).problems.find((problem) => problem.code === code);
  if (found) return found;
  const offer = {
    tools: offered.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    malformed: [],
  };
  const made = curate(definitionOf(text), offer, 'off').problems.find(
    (problem) => problem.code === code,
  );
  assert.ok(made, `no problem ${code}`);
  return made;
}

const edit = (text: string, { does }: QuickFix): string =>
  does.kind === 'command'
    ? `${does.command} ${does.server}`
    : does.kind === 'create'
      ? `create ${does.path}`
      : applyEdits(text, does.edits);

describe('fixes in a layer (C7)', () => {
  const shared = `${head}    tools: { blacklist: ['read_*'] }\n    transform: [{ suffix: _x }]\n`;
  const local = 'version: 1\nservers:\n  a:\n    timeouts: { call: 5 min }\n    enabeld: yes\n';
  const fixes = (text: string): QuickFixes =>
    new QuickFixes(text, { ...around, below: (server) => (server === 'a' ? shared : undefined) });
  const found = (text: string): readonly Problem[] =>
    new ConfigState().apply(
      [
        { file: '/w/.minds/mcp.yaml', folder: '/w', text: shared },
        { file: '/w/.minds/mcp.local.yaml', folder: '/w', origin: 'local', text },
      ],
      { env: {}, directoryExists: () => true },
    ).problems;
  const fixed = (text: string, problem: Partial<Problem>): string[] =>
    fixes(text)
      .for({ ...(found(text)[0] as Problem), ...problem })
      .map((one) => edit(text, one));

  it('a fix changes the layer, though its entry has no transport', () => {
    const problems = found(local);
    assert.deepEqual(problems.map(({ code }) => code).sort(), ['duration-invalid', 'unknown-key']);
    const all = fixes(local).all(problems);
    assert.match(applyEdits(local, all), /enabled: yes/);
    const duration = problems.find(({ code }) => code === 'duration-invalid') as Problem;
    assert.ok(
      fixes(local)
        .for(duration)
        .some((one) => /call: 5m/.test(edit(local, one))),
    );
  });

  it('fixes that are safe together are judged by the joined entry', () => {
    const texts = ['    comand: [x]\n', '    comand: [x]\n    enabeld: true\n'];
    for (const text of texts.map((body) => `version: 1\nservers:\n  a:\n${body}`)) {
      const after = applyEdits(text, fixes(text).all(found(text)));
      assert.match(after, /comand: /, 'with this command, the server would not work');
      assert.doesNotMatch(after, /enabeld/);
    }
  });

  it('a list in the layer begins with the list below', () => {
    const [blacklisted] = fixed(local, { code: 'too-many-tools', server: 'a', tool: 'open' });
    assert.match(blacklisted ?? '', /blacklist: \['?read_\*'?, '?open'?\]/);
    const [prefixed] = fixed(local, { code: 'name-taken', server: 'a', tool: 'open' });
    assert.match(prefixed ?? '', /transform: \[\{ suffix: _x \}, \{ prefix: '?a_'? \}\]/);
  });

  it('the id of an entry that lies over nothing becomes the nearest one', () => {
    const alone = 'version: 1\nservers:\n  aa: { enabled: true }\n';
    assert.ok(fixed(alone, {}).includes(alone.replace('aa:', 'a:')));
    const both = `${alone}  a: {}\n`;
    assert.ok(!fixed(both, {}).some((text) => /\n {2}a:[^]*\n {2}a:/.test(text)));
  });
});

describe('overrides at a name (O1)', () => {
  const offered = (marked: string): QuickFix[] =>
    new QuickFixes(marked.replace('¦', ''), around).at(marked.indexOf('¦'));
  const taken = (marked: string, title: string): string => {
    const found = offered(marked).find((one) => one.title === title);
    assert.ok(
      found,
      offered(marked)
        .map((one) => one.title)
        .join(),
    );
    return edit(marked.replace('¦', ''), found);
  };
  const list = `${head}    tools:\n      whitelist:\n        - op¦en\n`;

  it('*Shorten Description…* writes the present text of the server, and *Give Argument a Fixed Value* a value to replace', () => {
    const added = (line: string): string =>
      `${list.replace('¦', '')}      override:\n        open:\n${line}`;
    assert.equal(
      taken(list, "Shorten Description of 'open'…"),
      added('          description: "Does \\"open\\"."\n'),
    );
    assert.equal(
      taken(list, "Give Argument 'button' a Fixed Value"),
      added('          arguments:\n            button:\n              fixed: "left"\n'),
    );
  });

  for (const [what, marked, title, after] of [
    [
      'beside another tool',
      `${head}    tools:\n      override:\n        open:\n          description: x\n      whitelist: ['browser_cl¦ick']\n`,
      "Give Argument 'url' a Fixed Value",
      `${head}    tools:\n      override:\n        open:\n          description: x\n        browser_click:\n          arguments:\n            url:\n              fixed: ''\n      whitelist: ['browser_click']\n`,
    ],
    [
      'in flow style',
      `${head}    tools: { whitelist: [op¦en] }\n`,
      "Give Argument 'url' a Fixed Value",
      `${head}    tools: { override: { open: { arguments: { url: { fixed: '' } } } }, whitelist: [open] }\n`,
    ],
    [
      'of an argument without a value',
      `${head}    tools:\n      override:\n        open:\n          arguments:\n            u¦rl:\n`,
      'Give This Argument a Fixed Value',
      `${head}    tools:\n      override:\n        open:\n          arguments:\n            url: { fixed: '' }\n`,
    ],
  ] as const)
    // oxfmt-ignore
    it(`an override is added ${what}`, () => assert.equal(taken(marked, title), after));

  it('nothing is offered for a pattern of several tools, an unknown tool, or a value that is there', () => {
    assert.deepEqual(offered(list.replace('op¦en', "'op¦*'")), []);
    assert.deepEqual(offered(list.replace('op¦en', 'no¦ne')), []);
    const whole = `${head}    tools: { override: { op¦en: { description: x, arguments: { url: { fixed: 1 }, button: { fixed: 1 } } } } }\n`;
    assert.deepEqual(offered(whole), []);
  });
});

describe('quick fixes (E1)', () => {
  const cases: readonly (readonly [ProblemCode, string, string, string, string])[] = [
    ['unknown-key', 'a misspelt key', head + "    truly-stateless: true # c\n", "Rename to 'truely-stateless'", head + '    truely-stateless: true # c\n'],
    ['unknown-key', 'a misspelt `stateless`', head + '    stateles: true\n', "Rename to 'stateless'", head + '    stateless: true\n'],
    ['unknown-key', 'a misspelt key whose other spelling is written', head + '    stateless: true\n    truly-stateless: true\n', "Remove 'truly-stateless'", head + '    stateless: true\n'],
    ['unknown-key', 'a misspelt key in flow style', head + "    tools: { 'white-list': [open] }\n", "Rename to 'whitelist'", head + "    tools: { 'whitelist': [open] }\n"],
    ['unknown-key', 'a misspelt key of the file', 'version: 1\nserver: {}\n', "Rename to 'servers'", 'version: 1\nservers: {}\n'],
    ['unknown-key', 'a key that is written already', head + '    comand: x\n', "Remove 'comand'", head],
    ['unknown-key', '`disabled`', head + '    disabled: true\n', "Change to 'enabled: false'", head + '    enabled: false\n'],
    ['unknown-key', 'a misspelt key in an anchor', 'version: 1\nx-x: &x\n  enabled: true\n  comand: npx\nservers:\n  a: { transport: stdio, command: y, <<: *x }\n', "Remove 'comand'", 'version: 1\nx-x: &x\n  enabled: true\nservers:\n  a: { transport: stdio, command: y, <<: *x }\n'],
    ['transport-sse', '`sse`', "version: 1\nservers:\n  a: { transport: 'sse', url: 'http://x' }\n", "Change to 'transport: streamable_http'", "version: 1\nservers:\n  a: { transport: 'streamable_http', url: 'http://x' }\n"],
    ['transport-sse', '`sse` of a program', head.replace('stdio', 'sse'), "Change to 'transport: stdio'", head],
    ['command-with-arguments', 'arguments behind the program', head.replace('command: npx', "command: npx -y 'a b' # c"), "Move the arguments to 'args'", head.replace('command: npx', "command: npx # c\n    args: ['-y', 'a b']")],
    ['command-with-arguments', 'arguments in both places', head.replace('command: npx', 'command: "npx -y x"\n    args: [y]'), "Move the arguments to 'args'", head.replace('command: npx', 'command: "npx"\n    args: [\'-y\', \'x\', y]')],
    ['command-with-arguments', 'arguments as items', head.replace('command: npx', 'args:\n      - y # last\n    command: npx -y'), "Move the arguments to 'args'", head.replace('command: npx', "args:\n      - '-y'\n      - y # last\n    command: npx")],
    ['command-with-arguments', 'arguments in flow style', 'version: 1\nservers:\n  a: { transport: stdio, command: npx -y x }\n', "Move the arguments to 'args'", "version: 1\nservers:\n  a: { transport: stdio, command: npx, args: ['-y', 'x'] }\n"],
    ['transport-unsupported', 'a misspelt transport', head.replace('stdio', 'stdoi'), "Change to 'transport: stdio'", head],
    ['version-missing', 'no version', '# all\nservers: {} # none\n', "Add 'version: 1'", '# all\nversion: 1\nservers: {} # none\n'],
    ['version-unsupported', 'a version in quotes', "version: '1' # one\nservers: {}\n", "Change to 'version: 1'", 'version: 1 # one\nservers: {}\n'],
    ['key-not-for-transport', '`url` of a program', head + '    url: http://x # no\n', "Remove 'url'", head],
    ['duplicate-key', 'two spellings of a key', head + '    stateless: true\n    truely-stateless: false\n', 'Remove this duplicate', head + '    stateless: true\n'],
    ['duplicate-key', 'a key twice', head + '    command: y\n', 'Remove this duplicate', head],
    ['missing-key', 'no transport', 'version: 1\nservers:\n  a: # x\n    url: http://x\n', "Add 'transport: streamable_http'", 'version: 1\nservers:\n  a: # x\n    transport: streamable_http\n    url: http://x\n'],
    ['wrong-type', 'a truth in quotes', head + "    enabled: 'no'\n", "Change to 'false'", head + '    enabled: false\n'],
    ['wrong-type', 'a text for a list', head + '    args: -y # yes\n', "Change to the list '[-y]'", head + "    args: ['-y'] # yes\n"],
    ['duration-invalid', 'hours', head + '    timeouts: { idle: 2h }\n', "Change to '120m'", head + '    timeouts: { idle: 120m }\n'],
    ['duration-invalid', 'a number that is meant in seconds', head + '    timeouts: { connect: 30 }\n', "Change to '30s'", head + '    timeouts: { connect: 30s }\n'],
    ['reference-not-replaced', 'a variable of another program in a header', "version: 1\nservers:\n  a: { transport: streamable_http, url: 'http://x', headers: { Authorization: 'Bearer ${T}' } }\n", "Change to a reference to 'T'", "version: 1\nservers:\n  a: { transport: streamable_http, url: 'http://x', headers: { Authorization: { prefix: 'Bearer ', env: T } } }\n"],
    ['reference-not-replaced', 'a variable of another program in an argument', head + "    args:\n      - --root=${ROOT:-x}/y # c\n", "Change to a reference to 'ROOT'", head + "    args:\n      - { prefix: '--root=', env: ROOT, suffix: '/y', default: 'x' } # c\n"],
    ['reference-not-replaced', 'an input of another program', head + "    env:\n      KEY: '${input:key}'\n", "Change to a reference to 'key'", head + '    env:\n      KEY: { secret: key }\n'],
    ['cwd-missing', 'a directory that is not there', head + '    cwd: ./nowhere/at/all # old\n    args: [x]\n', "Remove 'cwd' to run in the workspace folder", head + '    args: [x]\n'],
    ['server-id-invalid', 'an id with blanks', head.replace('a:', 'my server:'), "Rename to 'my_server'", head.replace('a:', 'my_server:')],
    ['server-id-invalid', 'an id with accents', head.replace('a:', 'Café:'), "Rename to 'Cafe'", head.replace('a:', 'Cafe:')],
    ['server-id-invalid', 'an id of other letters', head.replace('a:', "'検索':"), "Rename to 'server'", head.replace('a:', "'server':")],
    ['server-id-invalid', 'an id whose near id is taken', `${head}  b c: &b { transport: stdio, command: x }\n  b_c: *b\n`, "Rename to 'b_c_2'", `${head}  b_c_2: &b { transport: stdio, command: x }\n  b_c: *b\n`],
    ['server-id-invalid', 'the id of a built-in toolset', head.replace('a:', 'mcp_admin:'), "Rename to 'mcp_admin_2'", head.replace('a:', 'mcp_admin_2:')],
    ['duplicate-server', 'an id twice: another id', `${head}  a: { transport: stdio, command: x }\n`, "Rename to 'a_2'", `${head}  a_2: { transport: stdio, command: x }\n`],
    ['duplicate-server', 'an id twice: one entry', `${head}  a: { transport: stdio, command: x }\n`, 'Remove this duplicate', head],
    ['yaml-syntax', 'a tab for two blanks', `${head}\tb:\n\t\ttransport: stdio\n`, 'Change the tabs to spaces', `${head}  b:\n    transport: stdio\n`],
    ['yaml-syntax', 'a tab for four blanks', 'version: 1\nservers:\n    a:\n\t\ttransport: stdio # a\tb\n', 'Change the tabs to spaces', 'version: 1\nservers:\n    a:\n        transport: stdio # a\tb\n'],
    ['yaml-syntax', 'tabs, but not those of a block text', 'version: 1\nservers:\n\ta: { manual: x }\nx-text: |\n  \tkept\n', 'Change the tabs to spaces', 'version: 1\nservers:\n  a: { manual: x }\nx-text: |\n  \tkept\n'],
    ['env-file-unusable', 'a file of variables that is not there: make it', `${head}    envFile: new.env\n`, "Create 'new.env'", 'create new.env'],
    ['env-file-unusable', 'a file of variables that is not there: go without', `${head}    envFile: ../new.env # old\n`, "Remove 'envFile'", head],
    ['published-name-invalid', 'a prefix that no name may have', `${head}    transform:\n      - prefix: 'my tools.'\n`, "Change to 'my_tools_'", `${head}    transform:\n      - prefix: 'my_tools_'\n`],
    ['published-name-invalid', 'a prefix for another that no name may have', `${head}    transform: [{ prefix: { remove: 'a.', add: 'b.' } }]\n`, "Change to 'b_'", `${head}    transform: [{ prefix: { remove: 'a.', add: 'b_' } }]\n`],
    ['url-invalid', 'an address without its scheme', 'version: 1\nservers:\n  a: { transport: streamable_http, url: example.com/mcp } # c\n', "Change to 'https://example.com/mcp'", 'version: 1\nservers:\n  a: { transport: streamable_http, url: \'https://example.com/mcp\' } # c\n'],
    ['env-unset', 'a variable that is nearly set', head + '    env: { T: { env: SERCH_TOKEN } }\n', "Change to 'SEARCH_TOKEN', which is set", head + '    env: { T: { env: SEARCH_TOKEN } }\n'],
    ['env-unset', 'a variable whose value is entered instead', head + '    env: { T: { env: NOT_SET } }\n', "Enter the value of 'NOT_SET'…", head + '    env: { T: { secret: NOT_SET } }\n'],
    ['secret-unset', 'a secret without a value', head + '    args: [{ prefix: a, secret: KEY }]\n', "Enter the value of 'KEY'…", head + '    args: [{ prefix: a, secret: KEY }]\n'],
    ['override-unknown', 'an override of a misspelt tool', head + '    tools: { override: { opne: { description: x } } } # c\n', 'Change to "open"', head + '    tools: { override: { open: { description: x } } } # c\n'],
    ['override-unknown', 'an override of a misspelt argument', head + "    tools:\n      override:\n        open:\n          arguments:\n            'buton': { fixed: left }\n", 'Change to "button"', head + "    tools:\n      override:\n        open:\n          arguments:\n            'button': { fixed: left }\n"],
    ['pattern-blank', 'a blank pattern', head + "    tools: { whitelist: ['', open] }\n", 'Remove the pattern', head + '    tools: { whitelist: [open] }\n'],
    ['pattern-overruled', 'a pattern that the whitelist overrules', head + "    tools: { whitelist: ['o*'], blacklist: [open, x] }\n", 'Remove the pattern', head + "    tools: { whitelist: ['o*'], blacklist: [x] }\n"],
    ['pattern-matches-nothing', 'a misspelt name', head + '    tools: { whitelist: [open, brwser_click] }\n', "Change to 'browser_click'", head + '    tools: { whitelist: [open, browser_click] }\n'],
    ['pattern-matches-nothing', 'a dead pattern', head + "    tools:\n      blacklist:\n        - open\n        - '*_unsafe' # old\n", 'Remove the pattern', head + '    tools:\n      blacklist:\n        - open\n'],
    ['pattern-matches-nothing', 'the only pattern', head + "    tools: { whitelist: ['x_*'] }\n", 'Remove the last pattern (an empty whitelist lets all tools through)', head + '    tools: { whitelist: [] }\n'],
  ]; // oxfmt-ignore
  for (const [code, name, text, title, expected] of cases) {
    it(`${code}: ${name}`, () => {
      const fixes = new QuickFixes(text, around).for(problemOf(text, code));
      const fix = fixes.find((one) => one.title === title);
      assert.ok(fix, fixes.map((one) => one.title).join(' | ') || 'no fix');
      assert.equal(edit(text, fix), expected);
    });
  }

  const at = (code: ProblemCode, server: string): Problem => ({
    ...problemOf(head.replace('stdio', 'sse'), 'transport-sse'),
    code,
    server,
    place: {
      file: '',
      range: { start: { line: 2, character: 2 }, end: { line: 2, character: 3 } },
    },
  });

  it('a reference of another program in a key that takes a text only has no fix', () => {
    const start =
      'version: 1\nservers:\n  a:\n    transport: streamable_http\n    url: https://x.test\n';
    for (const line of [
      "    sessionId: '${SESSION}'\n",
      "    oauth: { clientId: '${CLIENT}' }\n",
    ]) {
      const text = start + line;
      assert.deepEqual(
        new QuickFixes(text, around).for(problemOf(text, 'reference-not-replaced')),
        [],
      );
    }
  });

  it('conversations that lost their state at the limit have the fix of a higher one, at the head of the file (L2c)', () => {
    const problem = { ...at('instances-evicted', 'a'), instead: '64' };
    for (const [text, expected] of [
      [head, `maxInstances: 64\n${head}`],
      [`${head}maxInstances: 32 # all\n`, `${head}maxInstances: 64 # all\n`],
    ] as const) {
      const [fix] = new QuickFixes(text, around).for(problem);
      assert.equal(fix?.title, "Write 'maxInstances: 64'");
      assert.equal(edit(text, fix), expected);
    }
  });

  it('an open version has the fix of the version that runs, which keeps quotes and comments (C8)', () => {
    const text = `${head}    args: [-y, "x@^1"] # why\n`;
    const named = { launcher: 'npx', name: 'x', requested: '^1', pinned: false };
    const fixes = (runs?: string) =>
      new QuickFixes(text, {
        ...around,
        packageOf: () => (runs === undefined ? named : { ...named, runs }),
      }).for(problemOf(text, 'version-not-pinned'));
    const [fix] = fixes('1.2.3');
    assert.equal(fix?.title, 'Pin to 1.2.3');
    assert.equal(edit(text, fix), `${head}    args: [-y, "x@1.2.3"] # why\n`);
    assert.deepEqual(fixes(), []);
  });

  it('a taken name has the fix of a prefix', () => {
    const [fix] = new QuickFixes(head, around).for(at('name-taken', 'a'));
    assert.equal(fix?.title, "Add the prefix 'a_'");
    assert.equal(edit(head, fix), `${head}    transform:\n      - prefix: 'a_'\n`);
  });

  it('a toolset hidden by a server of the editor has the fix to remove that server from its file', () => {
    const { place } = at('editor-toolset-hidden', 'a');
    const titleFor = (file: string): string | undefined => {
      const related = [{ message: '', place: { ...place, file } }];
      const [fix] = new QuickFixes(head, around).for({
        ...at('editor-toolset-hidden', 'a'),
        related,
      });
      assert.deepEqual(fix?.does, { kind: 'command', command: 'removeRivals', server: 'a' });
      return fix.title;
    };
    assert.equal(titleFor('/ws/.vscode/mcp.json'), 'Remove "a" from .vscode/mcp.json…');
    assert.equal(titleFor('C:\\ws\\.vscode\\mcp.json'), 'Remove "a" from .vscode/mcp.json…');
    assert.equal(titleFor('/ws/.mcp.json'), 'Remove "a" from .mcp.json…');
  });

  it('a failure at run time has the fixes to retry, to show the log, or none', () => {
    const text = head.replaceAll(' a:', ' failed:');
    const fixes = new QuickFixes(text, around).for(at('server-exited', 'failed'));
    assert.deepEqual(
      fixes.map(({ title }) => title),
      ["Start 'failed' again", "Show the log of 'failed'", "Disable 'failed'"],
    );
    assert.match(edit(text, fixes[2] as QuickFix), /failed:\n {4}enabled: false\n {4}transport/);
    assert.equal(
      new QuickFixes(head, around).for(at('server-exited', 'a'))[0]?.title,
      "Restart 'a'",
    );
  });

  for (const [what, overrides] of [
    ['has an override already', '{ opne: { description: x }, open: { description: y } }'],
    ['is not near', '{ nothing: { description: x } }'],
    ['of another tool is near', '{ open: { arguments: { opne: { fixed: 1 } } } }'],
    [
      'of the argument has an override already',
      '{ open: { arguments: { urll: { fixed: 1 }, url: { fixed: 2 } } } }',
    ],
  ] as const) {
    it(`an unknown override has no fix if the name ${what}`, () => {
      const text = `${head}    tools: { override: ${overrides} }\n`;
      const fixes = new QuickFixes(text, around).for(problemOf(text, 'override-unknown'));
      assert.deepEqual(fixes, []);
    });
  }

  it('a misspelt command has the fix of the nearest on PATH', () => {
    const text = head.replace('npx', "'npxx' # run");
    const range = { start: { line: 4, character: 13 }, end: { line: 4, character: 19 } };
    const problem = { ...at('command-not-found', 'a'), place: { file: '', range }, instead: 'npx' };
    const [fix] = new QuickFixes(text, around).for(problem);
    assert.ok(fix?.preferred);
    assert.equal(fix.title, "Change to 'npx'");
    assert.equal(edit(text, fix), head.replace('npx', "'npx' # run"));
  });

  it('a tool left out anyway has the fix to blacklist it', () => {
    const offer = {
      tools: [{ name: 'odd tool', inputSchema: { type: 'object' as const } }],
      malformed: [],
    };
    const [problem] = curate(definitionOf(head), offer, 'off').problems;
    assert.equal(problem?.code, 'tool-name-invalid');
    const fix = new QuickFixes(head, around)
      .for(problem)
      .find(({ title }) => title === "Blacklist 'odd tool'");
    assert.ok(fix);
    const mended = edit(head, fix);
    assert.deepEqual(curate(definitionOf(mended), offer, 'off').problems, []);
    assert.equal(mended, `${head}    tools:\n      blacklist:\n        - 'odd tool'\n`);
  });

  const named = (...names: string[]) => ({
    tools: names.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    malformed: [],
  });
  const lists = [
    '',
    "    transform: [{ prefix: 'p_' }]\n",
    "    tools: { transform: [{ suffix: '_s' }] }\n",
  ];
  for (const list of lists)
    for (const [tool, step] of [
      ['issues.list', "replace: { '.': '_' }"],
      ["it's/a.b", "replace: { '''': '_', '/': '_', '.': '_' }"],
      ['a b\u{1F600}', "replace: { ' ': '_', '\u{1F600}': '_' }"],
    ] as const)
      it(`the name ${tool} has the fix of a step that publishes it${list && `, beside ${list.trim()}`} (N4)`, () => {
        const text = head + list;
        const [problem] = curate(definitionOf(text), named(tool), 'off').problems;
        assert.equal(problem?.code, 'tool-name-invalid');
        const [fix] = new QuickFixes(text, around).for(problem);
        assert.deepEqual([fix?.title, fix?.preferred], [`Add '${step}'`, true]);
        const mended = curate(definitionOf(edit(text, fix as QuickFix)), named(tool), 'off');
        assert.ok(mended.kind === 'curated');
        assert.deepEqual(mended.problems, []);
        assert.deepEqual(
          mended.tools.map(({ original }) => original),
          [tool],
        );
      });

  it('the step of the fix gives a tool no name of another tool', () => {
    const deps = {
      ...around,
      tools: () => [{ original: 'a_b', description: '', arguments: new Map() }],
    };
    const [problem] = curate(definitionOf(head), named('a_b', 'a.b'), 'off').problems;
    assert.equal(
      new QuickFixes(head, deps).for(problem as Problem)[0]?.title,
      "Add 'replace: { '.': '-' }'",
    );
  });

  it('a name that is only too long has no fix of a step', () => {
    const [problem] = curate(definitionOf(head), named('x'.repeat(65)), 'off').problems;
    assert.deepEqual(
      new QuickFixes(head, around).for(problem as Problem).map(({ title }) => title.slice(0, 9)),
      ['Blacklist'],
    );
  });

  it('two tools with one name have the fix to blacklist the second', () => {
    const text = `${head}    transform: [{ prefix: { remove: a_, add: '' } }]\n`;
    const problem = problemOf(text, 'name-twice-in-server', ['x', 'a_x']);
    const fixed = new QuickFixes(text, around)
      .for(problem)
      .find(({ title }) => title === "Blacklist 'a_x'");
    assert.ok(fixed);
    assert.throws(
      () => problemOf(edit(text, fixed), 'name-twice-in-server', ['x', 'a_x']),
      /no problem/,
    );
  });

  it('a pending launch has the fix to approve it', () => {
    const [fix] = new QuickFixes(head, around).for({
      ...at('approval-pending', 'a'),
      severity: 'information',
    });
    assert.equal(edit(head, fix as QuickFix), 'approve a');
  });

  it('a change after the approval has the fixes to show and to accept it', () => {
    const [fix] = new QuickFixes(head, around).for({
      ...at('tools-changed', 'a'),
      severity: 'warning',
    });
    assert.equal(edit(head, fix as QuickFix), 'acceptTools a');
  });

  it('a difference from the lock has the fix to update the lock (S3d)', () => {
    for (const code of ['lock-differs', 'lock-version'] as const) {
      const [fix] = new QuickFixes(head, around).for({ ...at(code, 'a'), severity: 'error' });
      assert.equal(edit(head, fix as QuickFix), 'updateLock a');
    }
  });

  it('too many tools have the fix to disable a server', () => {
    const fixes = new QuickFixes(head, around).for({
      ...at('too-many-tools', 'a'),
      severity: 'warning',
    });
    assert.deepEqual(
      fixes.map(({ title }) => title),
      ["Disable 'a'"],
    );
  });

  it('a problem has no fix if the text has changed since', () => {
    const problem = problemOf(`${head}    comand: x\n`, 'unknown-key');
    assert.deepEqual(new QuickFixes(head, around).for(problem), []);
    assert.deepEqual(new QuickFixes(`# new\n${head}    comand: x\n`, around).for(problem), []);
    assert.deepEqual(new QuickFixes('a: [', around).for(problem), []);
  });

  describe('no fix for another value at the place of a problem', () => {
    const list = (patterns: string): string => `${head}    tools:\n      blacklist:\n${patterns}`;
    const rows: readonly (readonly [ProblemCode, string, string])[] = [
      ['pattern-matches-nothing', list('        - x_*\n        - open\n        - b*\n'), list('        - open\n        - b*\n')],
      ['pattern-matches-nothing', list('        - opem\n        - b*\n'), list('        - open\n        - b*\n')],
      ['pattern-blank', list("        - ''\n        - open\n        - b*\n"), list('        - open\n        - b*\n')],
      ['pattern-overruled', list('        - open\n        - b*\n      whitelist: [o*]\n'), list('        - b*\n      whitelist: [o*]\n')],
      ['duplicate-key', `${head}    command: y\n    args: [z]\n`, `${head}    args: [z]\n`],
      ['key-not-for-transport', `${head}    url: http://x\n    env: { A: b }\n`, `${head}    env: { A: b }\n`],
      ['cwd-missing', `${head}    cwd: ./nowhere/at/all\n`, `${head}    cwd: .\n`],
      ['transport-sse', head.replace('stdio', 'sse'), head],
      ['transport-unsupported', head.replace('stdio', 'stdoi'), head],
      ['command-with-arguments', `${head.replace('npx', 'npx -y x')}    args: [z]\n`, head],
    ]; // oxfmt-ignore
    for (const [code, was, now] of rows) {
      it(`${code}: ${now.slice(head.length) || head}`, () => {
        const problem = { ...problemOf(was, code), severity: 'information' as const };
        const fixes = new QuickFixes(now, around);
        assert.deepEqual(fixes.for(problem), []);
        assert.deepEqual(fixes.all([problem]), []);
      });
    }

    it('a misspelt command has no fix after its correction', () => {
      const range = { start: { line: 4, character: 13 }, end: { line: 4, character: 17 } };
      const problem = {
        ...at('command-not-found', 'a'),
        severity: 'information' as const,
        place: { file: '', range },
      };
      const fixes = new QuickFixes(head.replace('npx', 'uvx'), around).for({
        ...problem,
        instead: 'npx',
      });
      assert.ok(!fixes.some(({ title }) => title.startsWith('Write')));
    });
  });

  describe('all safe ones at once', () => {
    const all = (text: string): string =>
      applyEdits(text, new QuickFixes(text, around).all(parse(text).problems));
    const a = (lines: string): string => `version: 1\nservers:\n  a:\n${lines}`;
    const works = '    transport: stdio\n    command: npx\n';
    const rows: readonly (readonly [string, string, string])[] = [
      ['the transport by another name is renamed and not added', a('    type: stdio\n    command: npx\n'), a(works)],
      ['one of two that mean the same', a(`${works}    tools: { include: [open], allow: [x] }\n`), a(`${works}    tools: { whitelist: [open], allow: [x] }\n`)],
      ['one of two keys of the file', 'version: 1\nmcpServers: {}\nserver: {}\n', 'version: 1\nservers: {}\nserver: {}\n'],
      ['the version that is misspelt', 'Version: 1\nservers: {}\n', 'version: 1\nservers: {}\n'],
      ['nothing of what works stops working', a(`${works}    truly-stateless: maybe\n    truth: 1\n    environment: [A]\n    workdir: ./gone\n    trasform: []\n`), a(`${works}    truly-stateless: maybe\n    truth: 1\n    environment: [A]\n    workdir: ./gone\n    transform: []\n`)],
      ['a shared mistake once', `version: 1\nx-t: &t { whitlist: [open] }\nservers:\n  a: { transport: stdio, command: x, tools: *t }\n  b: { transport: stdio, command: x, tools: *t }\n`, `version: 1\nx-t: &t { whitelist: [open] }\nservers:\n  a: { transport: stdio, command: x, tools: *t }\n  b: { transport: stdio, command: x, tools: *t }\n`],
    ]; // oxfmt-ignore
    for (const [name, text, expected] of rows) it(name, () => assert.equal(all(text), expected));
  });

  describe('arguments behind a program stay if another server shares them', () => {
    const rows: readonly (readonly [string, string])[] = [
      ['the command comes with a merge', 'version: 1\nx-a: &a\n  transport: stdio\n  command: npx -y x\nservers:\n  a:\n    <<: *a\n    args: [y]\n'],
      ['an alias stands for the command', 'version: 1\nservers:\n  a:\n    transport: stdio\n    command: &c npx -y x\n  b: { transport: stdio, command: *c }\n'],
      ['the arguments come with a merge', 'version: 1\nx-a: &a\n  args: [y]\nservers:\n  a:\n    <<: *a\n    transport: stdio\n    command: npx -y x\n'],
      ['an alias stands for the arguments', 'version: 1\nservers:\n  a:\n    transport: stdio\n    command: npx -y x\n    args: &a [y]\n  b: { transport: stdio, command: z, args: *a }\n'],
      ['the server is merged into another', 'version: 1\nservers:\n  a: &a\n    transport: stdio\n    command: npx -y x\n  b: { <<: *a, args: [y] }\n'],
    ]; // oxfmt-ignore
    for (const [name, text] of rows) {
      it(name, () => {
        const { problems } = parse(text);
        const fixes = problems.flatMap((problem) => new QuickFixes(text, around).for(problem));
        assert.ok(problems.some(({ code }) => code === 'command-with-arguments'));
        assert.ok(
          fixes.every(({ title }) => title.startsWith('Disable')),
          fixes.map(({ title }) => title).join(' | '),
        );
      });
    }
  });

  it('a key merged into another server is not removed', () => {
    const text =
      'version: 1\nservers:\n  a: &a\n    transport: stdio\n    command: x\n    url: http://x\n  b:\n    <<: *a\n    transport: streamable_http\n';
    assert.deepEqual(
      new QuickFixes(text, around).for(problemOf(text, 'key-not-for-transport')),
      [],
    );
  });

  it('the fix for an unset variable changes the reference of the problem, even among several', () => {
    const base = 'version: 1\nx-a: &a\n  transport: stdio\n  command: npx\n';
    const rows: readonly (readonly [string, string])[] = [
      ["  args: ['--token', { env: SERCH_TOKEN }]\n", "  args: ['--token', { env: SEARCH_TOKEN }]\n"],
      ['  env:\n    A:\n      prefix: a\n      env: SERCH_TOKEN\n', '  env:\n    A:\n      prefix: a\n      env: SEARCH_TOKEN\n'],
      ['  args:\n    - prefix: a\n      env: SERCH_TOKEN\n', '  args:\n    - prefix: a\n      env: SEARCH_TOKEN\n'],
    ]; // oxfmt-ignore
    for (const [written, expected] of rows) {
      const server =
        "servers:\n  a:\n    headers: { H: { env: PATHS, default: '' } }\n    <<: *a\n";
      const text = base + written + server;
      const fixes = new QuickFixes(text, around).for(problemOf(text, 'env-unset'));
      assert.equal(edit(text, fixes[0] as QuickFix), base + expected + server);
    }
  });

  it('all safe fixes are applied at once, once each', () => {
    const text =
      "servers:\n  a: &a\n    transport: stdio\n    comand: npx # c\n    enabled: 'yes'\n  b:\n    <<: *a\n";
    const parsed = [
      problemOf(text, 'version-missing'),
      ...parse(`version: 1\n${text}`).problems,
    ].map((problem) => {
      const shift = (line: number): number =>
        problem.code === 'version-missing' ? line : line - 1;
      const { start, end } = problem.place.range;
      const range = {
        start: { ...start, line: shift(start.line) },
        end: { ...end, line: shift(end.line) },
      };
      return { ...problem, place: { file: '', range } };
    });
    assert.equal(
      applyEdits(text, new QuickFixes(text, around).all(parsed)),
      'version: 1\nservers:\n  a: &a\n    transport: stdio\n    command: npx # c\n    enabled: true\n  b:\n    <<: *a\n',
    );
  });
});
