/**
 * Every function that reads text of others is given a lot of it (S2). Those that take texts alone are found in the source
 * and fed by themselves; any other is fed here, or is named with the reason why it is not.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import ts from 'typescript';
import { readInitializeAnswer } from '../../src/core/connections/handshake.js';
import { inShort } from '../../src/core/connections/http/exchange.js';
import { readChallenge } from '../../src/core/connections/http/oauth/access.js';
import { inBrief, parseMessages, shortened } from '../../src/core/connections/jsonRpc.js';
import { initializeRefused, listFailed } from '../../src/core/connections/openingFailures.js';
import { likelyCause } from '../../src/core/connections/stdio/likelyCause.js';
import { LineSplitter } from '../../src/core/connections/stdio/lineSplitter.js';
import { handleNote, withoutHandle } from '../../src/core/gateway/handles.js';
import { namedBy } from '../../src/core/gateway/identities.js';
import { withId } from '../../src/core/gateway/jsonRpc.js';
import { sketch } from '../../src/core/yaml/sketch.js';
import { outline } from '../../src/core/authoring/outline.js';
import { curate, type CurationRules } from '../../src/core/tools/curate.js';
import { compilePattern } from '../../src/core/tools/patterns.js';
import { admitsResource, contentsRefused } from '../../src/core/tools/promptsAndResources.js';
import { formatted, inert } from '../../src/core/base/inert.js';
import { Redactor } from '../../src/core/base/log.js';
import { withoutDataUrls } from '../../src/core/results/dataUrls.js';
import { assertLinear } from './longTexts.js';

const noPlace = { file: '/f', range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } } };
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
        { name: 'x', description: text, inputSchema: { type: 'object', properties: { [text]: { pattern: text } } } },
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
const resources = { resources: [], templates: [], filter: { whitelist: ['file:///*a*b*c*'], blacklist: [] } };

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'what a server lists': (text) => curated('*a*b*c*', text),
  'what a client of 2026-07-28 says of its conversation': (text) => {
    const tool: Tool = { name: 'x', inputSchema: { type: 'object', properties: { [text]: {} } } };
    return [
      namedBy('codex-mcp-client', { threadId: text }),
      withoutHandle(tool, { [text]: text, conversation: text }),
      handleNote(tool, text, 'minted'),
      withId(text, 1, 2),
    ];
  },
  'what a server lists, and a pattern of the file': (text) => curated(text, 'a'.repeat(60)),
  'a pattern with many wildcards': (text) => compilePattern('*a*b*a*b*c*d*'.repeat(20)).matches(text),
  'a pattern that is long': (text) => compilePattern(`*${text}*`).matches(text.slice(0, 8 * 1024)),
  'a resource that is asked for': (text) => [
    admitsResource(resources, text),
    admitsResource({ ...resources, templates: [{ uriTemplate: '{a}{b}/{c}{d}', name: 'x' }] }, text),
    contentsRefused(resources, [{ uri: 'x', mimeType: text, text, blob: text }]),
  ],
  'a text that is shown': (text) => [inert`a ${text}`, formatted`a ${text}`],
  'a text in a log': (text) => {
    const redactor = new Redactor();
    redactor.register(['a secret of some length']);
    return redactor.redact(text);
  },
  'data: URLs in a result': (text) => withoutDataUrls({ content: [{ type: 'image', data: text, mimeType: text }] }),
  'a config file that is typed': (text) => [
    sketch(text),
    sketch(text, text.length),
    sketch(`a: [${text}`),
    sketch(`x${text}`),
  ],
  'the outline of a config file': (text) => outline(`servers:\n  a: ${text}`),
  'a message of a server': (text) => parseMessages(text),
  'a text in a message of a server': (text) =>
    parseMessages(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 1, message: text } })),
  'an answer to initialize': (text) =>
    readInitializeAnswer({
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: text, version: text, title: text },
      instructions: text,
    }),
  'another answer to initialize': (text) => readInitializeAnswer({ protocolVersion: text }),
  'a text that is shown in short': (text) => [shortened(text, 500), inBrief({ text }, 500)],
  'a page instead of an answer': (text) => [inShort(text), inShort(`<html>${text}`)],
  'a challenge': (text) => readChallenge(`Bearer ${text.slice(0, 16 * 1024)}`),
  'an error of a server': (text) => [
    initializeRefused('It', { code: 1, message: text }),
    listFailed('It', shortened(text, 500)),
  ],
  'the last words of a process': (text) =>
    likelyCause(
      { code: 1, signal: null },
      Array.from({ length: 25 }, (_, line) => text.slice(line * 500, (line + 1) * 500)),
    ),
  'the output of a process': (text) => {
    const lines = new LineSplitter({ limit: 8 * 1024, onLine: () => {}, onExcess: () => 'cut' });
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 64 * 1024) lines.push(bytes.subarray(at, at + 64 * 1024));
    lines.end();
  },
};

/** What is exported here reads texts of others. */
const rooms = [
  'core/base',
  'core/protocol',
  'core/tools',
  'core/results',
  'core/gateway',
  'core/connections',
  'core/connections/http',
  'core/connections/stdio',
  'core/connections/http/oauth',
  'core/dialog',
];

/** Why a function that takes a text of others is not fed. */
const notFed: Readonly<Record<string, readonly string[]>> = {
  'It is given names that are bounded: they have passed N4, or are clipped.': [
    'shortNames',
    'judge',
    'transformName',
    'publish',
    'projectToolsForProvider',
    'isToldTo',
    'featuresOf',
    'compilePermissions',
    'patternsWithoutEffect',
    'editorNames',
    'nearest',
    'nearestName',
    'distance',
    'withoutSeparators',
    'toolIn',
  ],
  'It puts the text into another one and does not look at it.': [
    'markdownList',
    'refusal',
    'toolNameInvalid',
    'publishedNameInvalid',
    'nameTwiceInServer',
    'toolListedTwice',
    'nameTaken',
    'nameReserved',
    'schemaUnusable',
    'editorSchemaRefused',
    'toolMalformed',
    'editorIdTooLong',
    'agentHostNameUnusable',
    'promptTwice',
    'entryMalformed',
    'listIncomplete',
    'withNotes',
    'even',
    'forwarded',
    'clientRequest',
    'refuse',
    'resultMessage',
    'requestParams',
    'answerParams',
    'logStrayEvent',
    'broken',
    'granted',
  ],
  'It takes a path of this machine or a text of our own.': [
    'realPath',
    'samePath',
    'isBelow',
    'readTextFile',
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
    'checkAddress',
    'oauthFetch',
  ],
  'Another function that is fed calls it with the text.': [
    'saveBinaries',
    'answerRequest',
    'takeNotification',
    'isTooMuchToMatch',
    'curatePromptsAndResources',
  ],
};
const root = path.resolve(__dirname, '../../src');
const isNamed = (name: string): boolean => Object.values(notFed).some((names) => names.includes(name));

interface Taking {
  readonly file: string;
  readonly name: string;
  /** The types of the parameters that have to be given. */
  readonly parameters: readonly string[];
  /** Whether nothing but texts has to be given. */
  readonly isPlain: boolean;
}

/** Finds the exported functions that take a text. */
function functions(): Taking[] {
  return rooms.flatMap((room) =>
    readdirSync(path.join(root, room))
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => functionsOf(`${room}/${name}`)),
  );
}

function functionsOf(file: string): Taking[] {
  const tree = ts.createSourceFile(file, readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
  return tree.statements.flatMap((statement): Taking[] => {
    if (!ts.isFunctionDeclaration(statement) || !statement.name) return [];
    if (!statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    const types = statement.parameters.map(({ type }) => type?.getText() ?? '');
    if (!types.some((type) => /\b(string|unknown)\b/.test(type) && !type.includes('=>'))) return [];
    const needed = statement.parameters.filter(
      ({ initializer, questionToken, dotDotDotToken }) => !initializer && !questionToken && !dotDotDotToken,
    );
    const parameters = needed.map(({ type }) => type?.getText() ?? '');
    const isPlain = parameters.every((type) =>
      /^(string|string \| undefined|unknown|number|readonly string\[\])$/.test(type),
    );
    return [{ file, name: statement.name.text, parameters, isPlain }];
  });
}

describe('long texts of others', function () {
  this.timeout(300_000);

  it('are given to every exported function that reads them', () => {
    const found = functions().filter(({ isPlain }) => !isPlain);
    const named = new Set(Object.values(notFed).flat());
    const own = readFileSync(__filename, 'utf8');
    const isFed = (name: string): boolean => new RegExp(`\\b${name}\\(`).test(own);
    const missing = found.filter(({ name }) => !named.has(name) && !isFed(name));
    assert.deepEqual(
      missing.map(({ file, name }) => `${file} ${name}`),
      [],
    );
    const known = new Set(functions().map(({ name }) => name));
    assert.deepEqual(
      [...named].filter((name) => !known.has(name)),
      [],
      'these are gone',
    );
  });

  for (const { file, name, parameters } of functions().filter(({ isPlain, name }) => isPlain && !isNamed(name))) {
    it(`${file} ${name}: takes linear time`, async () => {
      const module = (await import(path.join(root, file))) as Readonly<
        Record<string, (...given: unknown[]) => unknown>
      >;
      const read = module[name];
      assert.ok(read);
      await assertLinear((text) => {
        try {
          return read(...parameters.map((type) => (type === 'number' ? 1 : type.endsWith('[]') ? [text, text] : text)));
        } catch {
          return undefined; // It refuses the text, in time.
        }
      });
    });
  }

  for (const [what, read] of Object.entries(readers)) {
    it(`${what}: read in linear time`, () => assertLinear(read));
  }
});
