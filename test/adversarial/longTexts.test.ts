/**
 * Every reader of foreign text gets a long one (S2). Functions with only texts as parameters are
 * found in the source and called automatically. Any other function is called here, or has a reason
 * in `notFed`.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { keptFacts, readInitializeAnswer } from '../../src/core/connections/handshake.js';
import { inShort } from '../../src/core/connections/http/exchange.js';
import { placeOf } from '../../src/core/connections/http/oauth/discovery.js';
import { readChallenge } from '../../src/core/connections/http/oauth/oauth.js';
import { literal, type StdioLaunch } from '../../src/core/config/model.js';
import { readLock } from '../../src/core/lock/lockFile.js';
import { decidingFiles } from '../../src/core/packages/decidingFiles.js';
import { launchesIn, packageOf } from '../../src/core/packages/package.js';
import { pinned } from '../../src/core/packages/pin.js';
import { inBrief, shortened } from '../../src/core/protocol/inBrief.js';
import { parseMessages } from '../../src/core/protocol/jsonRpc.js';
import {
  lostParts,
  presentParams,
  rightResource,
  rightResult,
} from '../../src/core/protocol/shapes.js';
import { initializeRefused, listFailed } from '../../src/core/failures/startFailure.js';
import { likelyCause } from '../../src/core/failures/likelyCause.js';
import { LineSplitter } from '../../src/core/connections/stdio/lineSplitter.js';
import { namedBy } from '../../src/core/gateway/conversations/conversationIds.js';
import { withId } from '../../src/core/protocol/jsonRpc.js';
import { sketch } from '../../src/core/yaml/sketch.js';
import { outline } from '../../src/core/authoring/outline.js';
import { curate, type CurationRules } from '../../src/core/tools/curate.js';
import { inOrder, seenTool } from '../../src/core/tools/seenTool.js';
import { mostParts, Steps } from '../../src/core/base/steps.js';
import { SchemaJudge } from '../../src/core/tools/schemaJudge.js';
import { isRequiredBy } from '../../src/core/tools/schemaEdits.js';
import { completed, overridden } from '../../src/core/tools/override.js';
import { compileCondition } from '../../src/core/tools/argumentRules.js';
import { compilePattern, namesIn } from '../../src/core/tools/patterns.js';
import {
  compilePermissions,
  permissionOf,
  rulesFor,
  unknownArguments,
} from '../../src/core/tools/permissions.js';
import { Claims } from '../../src/core/tools/claims.js';
import { noLists } from '../../src/core/tools/catalogue.js';
import { admitsResource, contentsRefused } from '../../src/core/tools/promptsAndResources.js';
import { systemClock } from '../../src/core/base/clock.js';
import { formatted, inert } from '../../src/core/base/inert.js';
import { altered, english } from '../../src/core/base/language.js';
import { Redactor } from '../../src/core/base/log.js';
import { jsonLines } from '../../src/core/base/text.js';
import { logMessage, trafficTrace } from '../../src/core/connections/logging.js';
import { readProgress } from '../../src/core/connections/outcomes.js';
import { AnswerLinks } from '../../src/core/minds/answerLinks.js';
import { hasToken } from '../../src/core/gateway/http/gateway.js';
import {
  clientCapabilities,
  otherResult,
  serverCapabilities,
  toolResult,
} from '../../src/core/gateway/dialect.js';
import { deliveredTask } from '../../src/core/gateway/methods/otherRequests.js';
import { withoutCarriage } from '../../src/core/gateway/methods/requests.js';
import {
  capabilitiesKey,
  covers,
  declaredCapabilities,
  showsApps,
  union,
} from '../../src/core/protocol/client.js';
import { mirrorMismatch, toHeader } from '../../src/core/protocol/mirroredParams.js';
import { metaOf } from '../../src/core/protocol/versions.js';
import { deliveryWithoutFiles, excerpt } from '../../src/core/results/delivery.js';
import { silentLog } from '../support/fakes/silentLog.js';
import { atOnce } from '../../src/core/base/turns.js';
import { withReadableBytes } from '../../src/core/results/binaries.js';
import { assertEachIsFed, plainReader, takingIn } from './foreignText.js';
import { assertLinear, ofMany } from './longTexts.js';
import { policies } from '../../src/core/protocol/clientPolicy.js';

const noPlace = {
  file: '/f',
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
};
const rules = (pattern: string): CurationRules => ({
  id: 'a',
  tools: { whitelist: [], blacklist: [pattern] },
  transform: [{ kind: 'prefix', add: 'p_' }],
  prompts: { filter: { whitelist: [], blacklist: [pattern] }, transform: [] },
  resources: { whitelist: [], blacklist: [pattern] },
  places: { key: noPlace, keyAt: () => noPlace, value: () => noPlace },
});
const curated = (pattern: string, text: string): unknown =>
  curate(
    rules(pattern),
    {
      tools: [
        { name: text, description: text, inputSchema: { type: 'object', title: text } },
        {
          name: 'x',
          description: text,
          inputSchema: { type: 'object', properties: { [text]: { pattern: text } } },
        },
      ],
      malformed: [{ name: text, detail: text }],
      prompts: { prompts: [{ name: text, description: text }], malformed: [] },
      resources: {
        resources: [{ uri: text, name: text, mimeType: text }],
        templates: [{ uriTemplate: text, name: text }],
        malformed: [],
      },
    },
    'warning',
  );
const claimed = (template: string, uri: string): unknown => {
  const prompts = { filter: noLists, transform: [] };
  const rules = { id: 'a', tools: noLists, transform: [], prompts, resources: noLists };
  const offers = [{ kind: 'resource', original: template }];
  const claims = new Claims([{ rules, offers, count: 1, hasApps: false }]);
  return [claims.ofUri(uri), claims.forList()(uri)];
};
const resources = {
  resources: [],
  templates: [],
  filter: { whitelist: ['file:///*a*b*c*'], blacklist: [] },
  apps: [],
};

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'what a server lists': (text) => curated('*a*b*c*', text),
  'what a client of 2026-07-28 says of its conversation': (text) => [
    namedBy('codex-mcp-client', { threadId: text }),
    withId(text, 1, 2),
  ],
  'what a server lists, and a pattern of the file': (text) => curated(text, 'a'.repeat(60)),
  'an override of the file, and a call by it': (text) => {
    const schema = {
      type: 'object' as const,
      description: text,
      properties: {
        [text]: { pattern: text },
        a: { enum: [text, 'x'] },
        b: { type: 'string', description: text },
        c: { $ref: `#/$defs/${text}` },
      },
      required: [text, 'b'],
      anyOf: [{ properties: { [text]: { const: text } } }, { not: { $ref: text } }],
    };
    const { applied } = overridden(
      { name: 'x', inputSchema: schema },
      {
        description: text,
        arguments: new Map([
          [text, { fixed: { value: text } }],
          ['a', { default: { value: text }, allow: ['*a*b*', text] }],
          ['b', { allow: ['*a*b*c*'] }],
          ['c', { allow: ['*a*'] }],
        ]),
      },
    );
    return [
      completed(applied, { a: text, [text]: text }),
      completed(applied, { b: [text] }),
      inOrder(
        { name: text, inputSchema: schema },
        seenTool({ name: text, inputSchema: schema })[2],
      ),
      inOrder({ name: text, inputSchema: schema }, text),
    ];
  },
  'the words of a launch': (text) =>
    [
      ['npx', `x@${text}`],
      ['uvx', text],
      ['docker', 'run', `-${text}`],
      ['sh', '-c', `cd ${text} && npx x`],
      ['proxy', text, 'npx', text],
    ].map(([command = '', ...args]) => {
      const launch: StdioLaunch = {
        transport: 'stdio',
        command,
        args: args.map(literal),
        cwd: '/',
        env: new Map(),
      };
      const found = decidingFiles(['/nowhere'], launch);
      return [packageOf(launch), launchesIn(launch), found];
    }),
  'an argument with a package': (text) => [
    pinned(text, { launcher: 'npx', name: 'x' }, '1.2.3'),
    pinned('x', { launcher: 'npx', name: text, requested: text }, text),
  ],
  'a lock file': (text) => [
    readLock(text),
    readLock(JSON.stringify({ version: 1, servers: { [text]: { tools: { [text]: { text } } } } })),
  ],
  'an argument of a call, and rules about it': (text) => {
    const rules = compilePermissions([
      { 'x(a: *a*b*c*)': 'deny', 'x(a: *a;*b*)': 'allow', 'x(b: *)': 'ask' },
    ]);
    const names = { original: 'x', published: 'x' };
    return [
      permissionOf(names, rules, { a: text, [text]: text }),
      rulesFor(names, rules[0] ?? [], { a: text }),
      unknownArguments(names, rules, [text, 'a']),
      namesIn({ whitelist: ['*a*b*'], blacklist: [] }, [text.slice(0, 8 * 1024)]),
      [true, false].map((isToAllow) => compileCondition('a', text, isToAllow).pattern.matches('x')),
    ];
  },
  'an argument that a schema requires': (text) => isRequiredBy({ required: [text, 'b'] }, text),
  'a value for a schema of a server': (text) =>
    new SchemaJudge({ type: 'object' }, new Steps(mostParts)).accepts(
      { const: text, properties: { [text]: { pattern: text } } },
      text,
    ),
  'a pattern with many wildcards': (text) =>
    compilePattern('*a*b*a*b*c*d*'.repeat(20)).matches(text),
  'a long pattern': (text) => compilePattern(`*${text}*`).matches(text.slice(0, 8 * 1024)),
  'a requested resource': (text) => [
    admitsResource(resources, text),
    admitsResource(
      { ...resources, templates: [{ uriTemplate: '{a}{b}/{c}{d}', name: 'x' }] },
      text,
    ),
    admitsResource({ ...resources, held: ['{a}{b}/{c}{d}', text] }, text.slice(0, 99)),
    claimed('{a}{b}/{c}{d}', text),
    claimed(text, text.slice(0, 8 * 1024)),
    contentsRefused(resources, [{ uri: 'x', mimeType: text, text, blob: text }]),
  ],
  'a shown text': (text) => [inert`a ${text}`, formatted`a ${text}`],
  'a text in a line of JSON': (text) => jsonLines([{ text }]),
  'a text in a log': (text) => {
    const redactor = new Redactor();
    redactor.register(['a secret of some length']);
    return redactor.redact(text);
  },
  'data: URLs in a result': (text) =>
    atOnce(withReadableBytes({ content: [{ type: 'image', data: text, mimeType: text }] })),
  'a config file during typing': (text) => [
    sketch(text),
    sketch(text, text.length),
    sketch(`a: [${text}`),
    sketch(`x${text}`),
  ],
  'the outline of a config file': (text) => outline(`servers:\n  a: ${text}`),
  'a message of a server': (text) => parseMessages(text),
  'fields of an entry of a list, and of a result': (text) => [
    rightResource({ uri: text, name: text, annotations: { lastModified: text, audience: [text] } }),
    rightResult({
      content: [
        { type: text, text },
        { type: 'text', annotations: { lastModified: text } },
      ],
    }),
    presentParams(text, { [text]: null }),
    lostParts({ content: [text, { type: text, text: [text] }], completion: { values: [text] } }),
  ],
  'a text in a message of a server': (text) =>
    parseMessages(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 1, message: text } })),
  'an answer to initialize': (text) =>
    readInitializeAnswer({
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: text, version: text, title: text },
      instructions: text,
    }),
  'a remembered list of a server': (text) => [
    keptFacts({
      serverInfo: { name: text, version: text },
      instructions: text,
      capabilities: { [text]: {} },
    }),
    keptFacts({ protocolVersion: text }),
  ],
  'another answer to initialize': (text) => readInitializeAnswer({ protocolVersion: text }),
  'a text that the redactor changes': (text) =>
    altered(english`${text} ends`, (one) => one.replaceAll('a', 'b')),
  'a shortened text': (text) => [shortened(text, 500), inBrief({ text }, 500)],
  'a page instead of an answer': (text) => [inShort(text), inShort(`<html>${text}`)],
  'a challenge': (text) => readChallenge(`Bearer ${text.slice(0, 16 * 1024)}`),
  'an address of an authorization server': (text) =>
    placeOf(
      { issuer: 'https://a.test/b' } as Parameters<typeof placeOf>[0],
      `https://a.test/${text}`,
    ),
  'an error of a server': (text) => [
    initializeRefused({ code: 1, message: text }),
    listFailed(shortened(text, 500)),
  ],
  'the last output of a process': (text) =>
    likelyCause(
      { code: 1, signal: null },
      Array.from({ length: 25 }, (_, line) => text.slice(line * 500, (line + 1) * 500)),
    ),
  'the capabilities of a client': (text) => {
    const declared = {
      experimental: { [text]: { text } },
      extensions: { [text]: {} },
      sampling: { [text]: {} },
    };
    return [
      declaredCapabilities(declared),
      showsApps({ extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [text] } } }),
      capabilitiesKey(declared),
      covers(union(declared, { [text]: {} }), declared),
      clientCapabilities('2025-06-18', declared),
      serverCapabilities('2025-06-18', declared),
      metaOf({ _meta: { [text]: text } }),
      withoutCarriage({ requestState: text, inputResponses: { [text]: text } }),
    ];
  },
  'a parameter in a header': (text) => {
    const params = [{ header: 'P', path: ['p'] }];
    return [
      mirrorMismatch(params, { p: text }, { 'mcp-param-p': toHeader(text) }),
      mirrorMismatch(params, { p: text }, { 'mcp-param-p': `=?base64?${text}?=` }),
    ];
  },
  'a token from a client': (text) => hasToken(`Bearer ${text}`, Buffer.from('x')),
  'a result on its way to a client': async (text) => {
    const parts = [
      { type: 'text', text },
      { type: 'image', data: text, mimeType: text },
      { type: 'resource', resource: { uri: text, text, mimeType: text } },
      { type: 'resource_link', uri: text, name: text },
    ];
    const result = {
      content: parts,
      structuredContent: { [text]: text },
      _meta: { [text]: text },
    } as CallToolResult;
    const delivery = deliveryWithoutFiles();
    const origin = { serverId: 'a', tool: 'b' } as never;
    await delivery.readable(result, origin);
    await delivery.readableWithApp(result, origin, 'token');
    await delivery.forConversation(result, origin, true);
    await delivery.asGiven(result, origin);
    await deliveredTask({ status: 'completed', result }, delivery, policies.agentHost, origin);
    return [
      toolResult('2024-11-05', result),
      otherResult(
        '2024-11-05',
        { contents: [{ uri: text, text }], messages: [{ content: { text } }] },
        false,
      ),
    ];
  },
  'the ends of a text for a file': (text) => excerpt(text, { head: 500, tail: 500 }),
  'the answer of a model': (text) => new AnswerLinks(() => undefined).push(text),
  'a log of a server': (text) => {
    logMessage(silentLog, { level: text, logger: text, data: { [text]: text } });
    const trace = trafficTrace(silentLog, systemClock, () => true);
    const message = { jsonrpc: '2.0' as const, method: text, params: { text } };
    return [
      trace.sent(message),
      trace.received(message),
      readProgress({ progress: 1, message: text }),
    ];
  },
  'the output of a process': (text) => {
    const lines = new LineSplitter({ limit: 8 * 1024, onLine: () => {}, onExcess: () => 'skip' });
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 64 * 1024)
      lines.push(bytes.subarray(at, at + 64 * 1024));
    lines.end();
  },
};

/** The exports of these rooms read foreign texts. */
const rooms = [
  'core/base',
  'core/protocol',
  'core/tools',
  'core/results',
  'core/gateway',
  'core/gateway/http',
  'core/gateway/conversations',
  'core/gateway/methods',
  'core/gateway/modern',
  'core/connections',
  'core/connections/http',
  'core/connections/stdio',
  'core/connections/http/oauth',
  'core/minds',
  'core/processes',
  'core/packages',
  'core/lock',
];

/** Reasons to leave a function with a foreign text out. */
const notFed: Readonly<Record<string, readonly string[]>> = {
  'It compares entries that were read before, each once.': ['sameJson'],
  'It passes bytes on and does not look at them.': ['_write'],
  'It reads whole messages in slices; longMessages.test.ts sends them.': [
    'decodedInSlices',
    'parseLongMessages',
    'inOrder',
  ],
  'It is given names that are bounded: they have passed N4, or are clipped.': [
    'judge',
    'idOf',
    'refuses',
    'endpoint',
    'activityOf',
    'heldElsewhere',
    'transformName',
    'publish',
    'toolsetIn',
    'projectToolsForProvider',
    'isToldTo',
    'featuresOf',
    'compilePermissions',
    'withPermission',
    'withTicks',
    'withPatterns',
    'editorNames',
    'nearest',
    'nearestName',
    'distance',
    'withoutSeparators',
    'toolIn',
    'filesOf',
    'ofConversation',
    'planLock',
  ],
  'It puts the text into another one and does not look at it.': [
    'markdownList',
    'sendJson',
    'refuseRest',
    'refusal',
    'toolNameInvalid',
    'publishedNameInvalid',
    'nameTaken',
    'nameReserved',
    'agentHostNameUnusable',
    'promptTwice',
    'overrideFault',
    'entryMalformed',
    'withNotes',
    'clientRequest',
    'refuse',
    'resultMessage',
    'enveloped',
    'presentResult',
    'presentAnswer',
    'headerFor',
    'broken',
    'hasFields',
    'refuseAll',
    'inFormOf',
  ],
  'It takes a path of this machine or a text of our own.': [
    'speak',
    'keeperWith',
    'runningVersion',
    'realPath',
    'samePath',
    'isBelow',
    'isInside',
    'leadsDown',
    'foldersUp',
    'isPersons',
    'launcherPath',
    'readTextFile',
    'readAdded',
    'makePrivateFile',
    'fileOfLaunch',
    'putLaunchFile',
    'readTextFileSync',
    'artifactsRoot',
    'secretInFile',
    'searchPath',
    'variable',
    'overlaid',
    'carryingMark',
    'windowsProgram',
    'posixProgram',
    'programFiles',
    'withPathEntries',
    'outsideOf',
    'startEnvironment',
    'programsWithin',
    'programFinder',
    'fileOf',
    'checkAddress',
    'procEntry',
  ],
  'It is part of the way of each message, which `longMessages.test.ts` sends.': [
    'call',
    'readPieces',
    'hear',
    'handle',
    'answerIn',
    'answerTo',
    'answers',
    'set',
    'holders',
    'find',
    'ask',
    'progress',
    'conversationOf',
    'send',
    'sendIfReading',
    'settle',
    'resume',
    'progressToken',
    'originOf',
    'forwardOther',
    'written',
    'sendOther',
    'forget',
    'forward',
    'upstreamMeta',
    'conversationOf',
    'tell',
    'of',
    'take',
    'notify',
    'answer',
    'noteRequired',
    'post',
    'get',
    'requestId',
    'cancelCall',
    'abort',
  ],
  'It looks up a text that is bounded: a name, an id, a token, a version.': [
    'add',
    'hasApp',
    'isForAppsAlone',
    'isFinal',
    'needsTask',
    'completed',
    'fail',
    'isFree',
    'setProgram',
    'callerOf',
    'callsInFlight',
    'setProtocolVersion',
    'admit',
    'refused',
  ],
  'Another function that is fed calls it with the text.': [
    'saveBinaries',
    'resultOfTask',
    'answerRequest',
    'applyNotification',
    'mapped',
    'isTooMuchToMatch',
    'curatePromptsAndResources',
  ],
};
describe('long foreign texts', function () {
  this.timeout(1_800_000);

  it('Long texts are given to everything that reads them', () =>
    assertEachIsFed(rooms, Object.values(readers), notFed));

  const named = new Set(Object.values(notFed).flat());
  for (const taking of takingIn(rooms).filter(({ isPlain, name }) => isPlain && !named.has(name))) {
    it(`${taking.file} ${taking.name} takes linear time`, async () =>
      assertLinear(await plainReader(taking)));
  }
  for (const [what, read] of Object.entries(readers)) {
    it(`${what}: read in linear time`, () => assertLinear(read, ofMany));
  }
});
