/**
 * Texts in files, and texts from newer servers and pages, in the lengths and shapes of
 * `longTexts.test.ts` (S2). The text is the whole file, or each key and each value of an entry.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { agentKinds } from '../../src/core/agents/agents.js';
import { describeLaunch } from '../../src/core/approval/fingerprint.js';
import { relocated } from '../../src/core/approval/relocated.js';
import { OfferLedger } from '../../src/core/approval/offerLedger.js';
import { offersOf } from '../support/core/reviewedOffers.js';
import type { ReviewedOffers } from '../../src/core/approval/offerPrints.js';
import { framePage, contentSecurityPolicy } from '../../src/core/apps/framePage.js';
import { withAppPart, withoutToken, withScript } from '../../src/core/apps/editorApps.js';
import { appOf, isForApps, metaForApps } from '../../src/core/apps/toolMeta.js';
import { complete } from '../../src/core/authoring/completion.js';
import { hover } from '../../src/core/authoring/hover.js';
import { QuickFixes } from '../../src/core/authoring/quickFixes.js';
import { renamedInOther, renamedServer } from '../../src/core/authoring/outline.js';
import { withTicked } from '../../src/core/authoring/rememberedTicks.js';
import { tickTools, withoutTools } from '../../src/core/authoring/toolLists.js';
import { withVersion } from '../../src/core/config/edit/pinEdit.js';
import { noMarkdown } from '../../src/core/base/inert.js';
import { Redactor } from '../../src/core/base/log.js';
import { entryLines, headLine, parseCassette } from '../../src/core/cassette/cassette.js';
import { addServers } from '../../src/core/config/edit/addServers.js';
import { parseMcprc } from '../../src/core/config/read/mcprc.js';
import { ConfigState, mergeSources } from '../../src/core/config/read/merge.js';
import { editsForMe } from '../../src/core/config/edit/layerEdits.js';
import { newEntry, suggestedId, validateId } from '../../src/core/config/edit/newServer.js';
import { addOverride, setEnabled } from '../../src/core/config/edit/serverEdits.js';
import { parseMindsFile } from '../../src/core/config/read/parse.js';
import { readRefusedVersion } from '../../src/core/connections/eras/modern.js';
import { importFormats } from '../../src/core/import/dialects.js';
import { importServers, withSecretsApart } from '../../src/core/import/importServers.js';
import { planImport } from '../../src/core/import/plan.js';
import { utf8OrUtf16 } from '../../src/core/base/textFile.js';
import { keptText, readKept } from '../../src/core/remembered/keptOffer.js';
import { newAgentFile, withGrants } from '../../src/core/team/agentFiles.js';
import { grantProblems, mergedTeams, parseTeam } from '../../src/core/team/team.js';
import { completeTeam } from '../../src/core/team/teamCompletion.js';
import { renamedInAgent, renamedInTeam } from '../../src/core/team/renaming.js';
import { EditNodes } from '../../src/core/yaml/editNodes.js';
import * as edits from '../../src/core/yaml/edits.js';
import { legacyServer, modernServer } from './longAnswers.js';
import { entriesIn } from './agentEntries.js';
import { deps, entryReaders, readEntry, source } from './longEntries.js';
import type { ConfiguredServer } from '../../src/core/config/model.js';
import { assertEachIsFed, plainReader, takingIn } from './foreignText.js';
import { assertLinear, ofFile } from './longTexts.js';

type Reader = (text: string) => unknown;

const folders = { folder: '/ws', home: '/home/ada' };

const around = {
  toolNames: () => ['browser_click'],
  toolText: () => undefined,
  isSet: () => false,
  serverState: () => noMarkdown,
  restartable: () => true,
  isFree: () => false,
  variables: ['PATH'],
  tools: () => [],
  entries: () => Promise.resolve([]),
};

/** Runs all editor help for a file, at some places. */
async function helpWith(text: string): Promise<void> {
  const { problems } = parseMindsFile(source(text, '.minds/mcp.yaml'), deps);
  const fixes = new QuickFixes(text, around);
  // An editor asks about visible problems only.
  for (const problem of problems.slice(0, 3)) fixes.for(problem);
}

/** Mistakes with quick fixes, each with the text in it. */
function mistaken(whole: string): void {
  // The text is there twenty times, and a file has a mebibyte.
  const text = whole.slice(0, Math.ceil(whole.length / 20));
  const quoted = JSON.stringify(text);
  const written = [
    'version: 1\nservers:\n  a:',
    ...['transport', 'command', 'comand', 'url', 'cwd', quoted, quoted, '<<'].map(
      (key) => `    ${key}: ${quoted}`,
    ),
    `    timeouts: { connect: ${quoted}, idle: [${quoted}] }`,
    `    tools: { whitelist: [${quoted}, ''], blacklist: ${quoted} }`,
    `    env: { A: { env: ${quoted}, secret: ${quoted} } }`,
    `  c: { transport: stdio, command: x, cwd: ${quoted}, env: { A: { env: ${quoted}, secret: B, command: [${quoted}] } } }`,
    `  d: { transport: stdio, command: x, timeouts: { connect: 30 }, args: [${JSON.stringify(`\${env:${text}}`)}] }`,
    '  b:\n    transport: stdio',
    `    command: ${JSON.stringify(`npx ${text}`)}`,
    '    envFile: x',
    `  mcp_admin:\n    transport: streamable_http\n    url: ${JSON.stringify(`https://${text}`)}\n    args: []`,
    '',
  ].join('\n');
  const none = {
    ...deps,
    directoryExists: () => false,
    envFile: () => ({ kind: 'refused', reason: text }) as const,
  };
  const { problems } = parseMindsFile(source(written, '.minds/mcp.yaml'), none);
  const fixes = new QuickFixes(written, around);
  for (const problem of problems) fixes.for(problem);
  for (const other of [
    `version: ${quoted}`,
    `version: 1\nservers: ${quoted}`,
    `version: 1\nservers: {a: {}, a: {}}`,
  ]) {
    new QuickFixes(other, around).all(
      parseMindsFile(source(other, '.minds/mcp.yaml'), deps).problems,
    );
  }
}

const offer = (text: string): ReviewedOffers =>
  offersOf({
    tool: [
      {
        name: 'a',
        title: text,
        description: text,
        annotations: { title: text },
        inputSchema: { type: 'object', title: text },
      },
    ],
    prompt: [{ name: text, description: text, arguments: [{ name: text }] }],
    resource: [{ uri: text, name: text, description: text, mimeType: text }],
    instructions: text,
  });

async function reviewed(before: string, text: string): Promise<void> {
  const definition = (
    readEntry('a', { transport: 'stdio', command: 'x' }) as Extract<
      ConfiguredServer,
      { kind: 'valid' }
    >
  ).definition;
  const launch = describeLaunch(definition);
  const kept = new Map<string, unknown>();
  const ledger = new OfferLedger({
    storage: {
      get: (key: string) => kept.get(key),
      update: (key: string, value: unknown) => (kept.set(key, value), Promise.resolve()),
    } as never,
    holdsBack: () => true,
    onStoreFailure: (error) => assert.fail(String(error)),
  });
  ledger.note(launch, [offer(before)], (given) => given);
  ledger.note(launch, [offer(text)], (given) => given);
  ledger.changesOf(launch, offer(text));
  ledger.declaredFor([text]);
  const change = await ledger.changeOf({ launch: launch.fingerprint, kind: 'tool', original: 'a' });
  if (change) ledger.accept([change]);
  ledger.dispose();
}

const readers: Readonly<Record<string, Reader>> = {
  'a config file': (text) => parseMindsFile(source(text, '.minds/mcp.yaml'), deps),
  'the servers of a config file': (text) =>
    parseMindsFile(
      source(`version: 1\nservers:\n  a:\n    ${text}\n  b: x`, '.minds/mcp.yaml'),
      deps,
    ),
  'a `.mcprc`': (text) => parseMcprc(source(text, '.mcprc'), deps),
  'a key beside the servers of a `.mcprc`': (text) =>
    parseMcprc(source(JSON.stringify({ mcpServers: {}, [text]: {} }), '.mcprc'), deps),
  'a server of a `.mcprc`': (text) =>
    parseMcprc(source(JSON.stringify({ [text]: { command: text } }), '.mcprc'), deps),
  'a team': (text) => parseTeam(source(text, '.minds/team.yaml')),
  'the members of a team': (text) => {
    const quoted = JSON.stringify(text);
    const written = `members:\n  a: { name: ${quoted}, toolsets: [${quoted}, '!x'] }\n  ${quoted}: { toolsets: x }`;
    const { team } = parseTeam(source(written, '.minds/team.yaml'));
    if (team) return [grantProblems([team], [], new Set()), mergedTeams([team, team])];
    return undefined;
  },
  'help with a config file': helpWith,
  'a config file with mistakes': mistaken,
  'edits of a config file': (text) => {
    const written = `a: ${JSON.stringify(text)}\nb: [${JSON.stringify(text)}]\n`;
    const nodes = EditNodes.read(written);
    const list = nodes?.pairAt(written.indexOf('\nb') + 1);
    if (!nodes || !list) return undefined;
    return [
      edits.renameKey(nodes, 0, text),
      edits.replaceItem(nodes, written.indexOf('[') + 1, text),
      edits.appendItem(nodes, list.pair.value, text),
      edits.prependItems(nodes, list, [text]),
    ];
  },
  'two config files': (text) => {
    const read = [text, `${text}b`].map((id, index) => {
      const written = JSON.stringify({ [id]: { command: 'x' }, same: { command: text } });
      return parseMcprc({ ...source(written, '.mcprc'), folder: `/ws${index}` }, deps);
    });
    const higher = parseMindsFile(
      source(`version: 1\nservers: { ${JSON.stringify(text)}: {} }`, '.minds/mcp.yaml'),
      deps,
    );
    return mergeSources([higher, ...read], new Map());
  },
  'a server that is renamed in another file': (text) => {
    const written = `version: 1\nservers:\n  ${JSON.stringify(text)}: {}\n`;
    try {
      return renamedInOther(written, { from: text, to: 'b' });
    } catch {
      return undefined; // It refuses the text in time.
    }
  },
  'a layer over a config file': (text) => {
    const quoted = JSON.stringify(text);
    const below = `version: 1\nservers:\n  a: { transport: stdio, command: x, env: { ${quoted}: b } }\n`;
    const entry = `{ env: { ${quoted}: ${quoted} }, ${quoted}: { a: ${quoted} }, cwd: 7 }`;
    const above = `version: 1\nservers:\n  a: ${entry}\n  ${quoted}: { enabled: false }\n`;
    const layer = { ...source(above, '.minds/mcp.local.yaml'), origin: 'local' as const };
    return [
      new ConfigState().apply([source(below, '.minds/mcp.yaml'), layer], deps),
      editsForMe({ shared: below, local: above }, 'a', (whole) => setEnabled(whole, 'a', false)),
      editsForMe({ shared: below, local: text }, text, (whole) => setEnabled(whole, text, false)),
    ];
  },
  'the parts of a new server': (text) => [
    validateId(text, new Set()),
    suggestedId('command', text, new Set([text])),
    suggestedId('url', text, new Set()),
    suggestedId('package', text, new Set()),
    newEntry('command', text),
  ],
  'a disabled server': (text) =>
    setEnabled(`version: 1\nservers:\n  ${JSON.stringify(text)}: {}\n`, text, false),
  'the bytes of a file of another program': (text) => utf8OrUtf16(Buffer.from(text)),
  'an imported file': (text) =>
    planImport({
      config: `version: 1\n# ${JSON.stringify(text)}\n`,
      label: 'a program',
      file: '/ws/other.json',
      text: JSON.stringify({ mcpServers: { [text]: { command: text } } }),
      isOfEditor: true,
      valueOf: () => undefined,
      folders,
    }),
  'a config file under the pointer': (text) => hover(text, 0, around),
  'the end of a config file during typing': (text) => complete(text, text.length, around),
  'a value during typing': (text) =>
    complete(`version: 1\nservers:\n  a:\n    transport: ${text}`, 30 + text.length, around),
  'a key during typing': (text) => {
    const typed = `version: 1\nservers:\n  a:\n    transport: ${text}\n    `;
    return complete(typed, typed.length, around);
  },
  'an item during typing': (text) =>
    complete(
      `version: 1\nservers:\n  a: {transport: ${text}, tools: {whitelist: [`,
      59 + text.length,
      around,
    ),
  'a team during typing': (text) => completeTeam(text, text.length, []),
  'an added server': (text) =>
    addServers('version: 1\n', [{ id: 'a', entry: { transport: 'stdio', command: text } }]),
  'a config file with an added server': (text) =>
    addServers(text, [{ id: 'a', entry: { transport: 'stdio', command: 'x' } }]),
  'a config file with an override': (text) => [
    addOverride(text, 'a', ['x', 'description'], "''"),
    addOverride(
      `version: 1\nservers:\n  a: { x: ${JSON.stringify(text)} }\n`,
      'a',
      [text, 'arguments', text, 'fixed'],
      '1',
    ),
  ],
  'a cassette, and a message for one': (text) => {
    const redactor = new Redactor();
    const head = headLine([text], redactor);
    const entry = entryLines(
      's',
      'client',
      JSON.stringify({ id: 1, method: text, params: { text } }),
      redactor,
    );
    return [entryLines('s', 'server', text, redactor), parseCassette(`${head}\n${entry}`)];
  },
  'a config file with a ticked tool': (text) => [
    tickTools(text, 'a', ['x'], new Map([['x', false]])),
    ...['whitelist', 'blacklist'].map((list) =>
      tickTools(
        `version: 1\nservers:\n  a:\n    tools: { ${list}: [${JSON.stringify(text)}] }\n`,
        ...(['a', ['x', text], new Map([['x', false]])] as const),
      ),
    ),
  ],
  'a config file with a pinned package': (text) => {
    const written = (word: string) =>
      `version: 1\nservers:\n  a: { transport: stdio, command: npx, args: [-y, ${JSON.stringify(word)}] }\n`;
    return ['x', text].map((word) => {
      const { model } = new ConfigState().apply([source(written(word), '.minds/mcp.yaml')], deps);
      const [server] = model.servers;
      if (server?.kind !== 'valid') return undefined;
      return [text, written(word)].map((whole) => withVersion(whole, server.definition, '1.2.3'));
    });
  },
  'the lists of remembered ticks': (text) => {
    const lists = { whitelist: [text], blacklist: [] };
    return withTicked([], text, { lists, replaced: [{ pattern: text, before: lists }] });
  },
  'a config file without unused tools': (text) =>
    [undefined, text].map((below) => withoutTools(text, { id: 'a', listed: [text] }, ['x'], below)),
  'a file with a renamed server': (text) => {
    const renaming = { from: text, to: 'b' };
    const quoted = JSON.stringify(text);
    return [
      renamedServer(text, { start: 0, end: 1 }, 'b'),
      renamedServer('version: 1\nservers:\n  a: {}\n', { start: 21, end: 22 }, text),
      [text, `members: { m: { toolsets: [${quoted}, x] } }`].map((team) =>
        renamedInTeam(team, renaming),
      ),
      [text, `---\ntools: [${quoted}]\n---\n`].map((agent) => renamedInAgent(agent, renaming)),
    ];
  },
  'the input for a new server': (text) =>
    withSecretsApart(
      'a',
      { command: text, args: [text], env: { A: text } },
      folders,
      () => undefined,
    ),
  'an agent of a member': (text) => {
    const agent = { id: 'a', name: text, purpose: text, toolsets: ['x'] };
    return [
      newAgentFile(agent),
      withGrants(text, agent),
      withGrants(`---\ntools: [${text}]\n---\n`, agent),
    ];
  },
  'changed tools': (text) => reviewed('before', text),
  'a launch for another worktree': (text) =>
    relocated({ args: [text], env: new Map([['A', text]]) }, '/ws'),
  'replaced tools': (text) => reviewed(text, `${text} `),
  'a server of 2025-11-25': legacyServer,
  'a server of 2026-07-28': modernServer,
  'the versions of a server': (text) =>
    readRefusedVersion({ supported: text.slice(0, 100_000).split('') }),
  'a remembered list': async (text) => {
    const listing = {
      tools: [{ name: text, description: text, inputSchema: { type: 'object' } }],
      malformed: [],
    };
    const kept = await keptText(
      {
        at: 1,
        protocolVersion: text,
        serverInfo: { name: text, version: text },
        instructions: text,
        capabilities: {},
        listing,
      } as never,
      (given) => given,
    );
    return [readKept(text), kept !== undefined && readKept(kept)];
  },
  'an app': (text) => {
    const ui = {
      csp: {
        connectDomains: [text, `https://${text}`, `https://${text}.example.com`],
        resourceDomains: [text],
      },
    };
    const result = { content: [{ type: 'text' as const, text }] };
    return [
      framePage({ html: text, ui }, { mark: 'a', isOfThisMachine: true }),
      contentSecurityPolicy(ui, false),
      withAppPart(result, result, 'token'),
      withoutToken({ uri: text }),
      withoutToken({ arguments: { 'mcp-toolsets/app': text } }),
      withScript({ contents: [{ text }, { blob: text }] }),
      [appOf, isForApps, metaForApps].map((read) =>
        read({ _meta: { ui: { resourceUri: text, visibility: [text] } } }),
      ),
    ];
  },
};

const entry = {
  command: 'npx',
  args: ['-y', 'x', '--token=abc'],
  env: { A: 'b' },
  cwd: '/x',
  url: 'https://a.b/c',
  headers: { A: 'b' },
  type: 'stdio',
  disabledTools: ['a'],
};

/**
 * Reads programs' files in each format, and translates the entry of each with the text at each
 * place.
 */
function importReaders(): [string, Reader][] {
  const whole = importFormats.map((format): [string, Reader] => [
    `a file of ${format}`,
    (text) => [
      importServers({ text, file: '/ws/x.json', format, folders }),
      importServers({
        text: JSON.stringify({
          mcpServers: {
            [text]: entry,
            other: { url: text, headers: { [text]: text, 'X-Key': '${env:KEY}' } },
          },
          mcp: { servers: { [text]: entry } },
          inputs: [{ id: text }],
        }),
        file: '/ws/x.json',
        format,
        folders,
      }),
    ],
  ]);
  return whole;
}

const agentReaders = agentKinds.map((agent): [string, Reader] => [
  `the file of ${agent}`,
  (text) => entriesIn(agent, text),
]);

const all: readonly (readonly [string, Reader])[] = [
  ...Object.entries(readers),
  ...importReaders(),
  ...agentReaders,
  ...entryReaders(),
];

const rooms = [
  'core/yaml',
  'core/config',
  'core/config/read',
  'core/config/edit',
  'core/import',
  'core/team',
  'core/agents',
  'core/authoring',
  'core/approval',
  'core/apps',
  'core/remembered',
  'core/connections/eras',
  'core/bridge',
  'core/files',
  'core/cassette',
];

/** Reasons to leave a text parameter out. */
const notFed: Readonly<Record<string, readonly string[]>> = {
  'It takes a path of this machine, a hash, or a text of our own.': [
    'isPrint',
    'open',
    'hasListsAbove',
    'sourceFiles',
    'userFile',
    'isUserFile',
    'configFileOf',
    'watchFile',
    'watchFolderOf',
    'readEnvFile',
    'tokenFileOf',
    'tokenIn',
    'noteAddress',
    'callFileOf',
    'callLines',
    'followCalls',
    'clearCalls',
    'writeLauncher',
    'notedAddresses',
    'lock',
    'lockWithin',
    'signInLock',
    'underLock',
    'leadsOutside',
    'answerAt',
    'readContent',
    'writeInside',
    'refuseOutside',
    'offerTextsIn',
    'of',
    'recall',
    'expectsMore',
    'remember',
    'forget',
  ],
  'It asks a listener, and reads no more of its answer than a proof has.': [
    'knowsToken',
    'proofAt',
  ],
  'It puts the text into another one and does not look at it.': ['reviewOf', 'note'],
};

describe('long texts in files, and of newer servers and pages', function () {
  this.timeout(1_800_000);

  /** Without what git ignores, because other lanes of the tests write there at the same time. */
  const filesHere = (): string[] => {
    const ignored = readFileSync('.gitignore', 'utf8').split(/\/?\n/);
    return readdirSync('.').filter((name) => !ignored.includes(name));
  };
  const files = filesHere();

  it('Long texts in files are given to everything that reads them', () =>
    assertEachIsFed(
      rooms,
      all.map(([, read]) => read),
      notFed,
    ));

  const named = new Set(Object.values(notFed).flat());
  for (const taking of takingIn(rooms).filter(({ isPlain, name }) => isPlain && !named.has(name))) {
    it(`${taking.file} ${taking.name} takes linear time`, async () =>
      assertLinear(await plainReader(taking), ofFile));
  }
  for (const [what, read] of all)
    it(`${what}: read in linear time`, () => assertLinear(read, ofFile));

  it('No text becomes a file', () => assert.deepEqual(filesHere(), files));
});
