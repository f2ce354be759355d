import assert from 'node:assert/strict';
import { definitionOf, hostEnv } from './fixtures.js';

const stdio = (body: string): string => `version: 1
servers:
  a:
    transport: stdio
    command: npx
${body}`;
const http = (body: string): string => `version: 1
servers:
  a:
    transport: streamable_http
    url: https://example.com/mcp
${body}`;

interface Case {
  readonly of: string;
  readonly one: string;
  readonly other: string;
  readonly launch: 'same' | 'other';
  readonly view: 'same' | 'other';
}

const cases: readonly Case[] = [
  // Other spellings of the same
  {
    of: 'style, quotes and comments',
    one: stdio('    args: [-y]\n'),
    other: stdio('    args: # all\n      - "-y"\n'),
    launch: 'same',
    view: 'same',
  },
  {
    of: 'the program that prints a value',
    one: stdio('    env: { A: { command: [op, a] } }\n'),
    other: stdio('    env: { A: { command: [op, b] } }\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'the program that prints an argument',
    one: stdio('    args: [{ command: [op, a] }]\n'),
    other: stdio('    args: [{ command: [op, a], prefix: x }]\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'the program that prints an address',
    one: http('').replace('https://example.com/mcp', '{ command: [op, a] }'),
    other: http('').replace('https://example.com/mcp', '{ command: [op, b] }'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'order of env',
    one: stdio('    env: { A: 1, B: 2 }\n'),
    other: stdio('    env: { B: 2, A: 1 }\n'),
    launch: 'same',
    view: 'same',
  },
  {
    of: 'order of headers',
    one: http('    headers: { A: x, B: y }\n'),
    other: http('    headers: { B: y, A: x }\n'),
    launch: 'same',
    view: 'same',
  },
  {
    of: 'a default written out',
    one: stdio(''),
    other: stdio('    cwd: .\n    enabled: true\n    timeouts: { call: 30s }\n    tools: {}\n'),
    launch: 'same',
    view: 'same',
  },
  {
    of: 'a literal of the same value as a host variable',
    one: stdio('    env: { A: search-secret }\n'),
    other: stdio('    env: { A: { env: SEARCH_TOKEN } }\n'),
    launch: 'same',
    view: 'same',
  },
  {
    of: 'an anchor',
    one: stdio('    args: [npx]\n'),
    other: stdio('    args: [npx]\n').replace('npx\n', '&c npx\n').replace('[npx]', '[*c]'),
    launch: 'same',
    view: 'same',
  },
  {
    of: 'enabled',
    one: stdio(''),
    other: stdio('    enabled: false\n'),
    launch: 'same',
    view: 'same',
  },
  {
    of: 'a number or its text',
    one: stdio('    env: { A: 3000 }\n'),
    other: stdio("    env: { A: '3000' }\n"),
    launch: 'same',
    view: 'same',
  },
  // Inputs of an instance
  { of: 'transport', one: stdio(''), other: http(''), launch: 'other', view: 'same' },
  {
    of: 'command',
    one: stdio(''),
    other: stdio('').replace('npx', 'node'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'order of args',
    one: stdio('    args: [a, b]\n'),
    other: stdio('    args: [b, a]\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'borders of args',
    one: stdio('    args: [ab]\n'),
    other: stdio('    args: [a, b]\n'),
    launch: 'other',
    view: 'same',
  },
  { of: 'cwd', one: stdio(''), other: stdio('    cwd: sub\n'), launch: 'other', view: 'same' },
  {
    of: 'a value of env',
    one: stdio('    env: { A: x }\n'),
    other: stdio('    env: { A: y }\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'a name of env',
    one: stdio('    env: { A: x }\n'),
    other: stdio('    env: { B: x }\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'an empty value of env',
    one: stdio(''),
    other: stdio("    env: { A: '' }\n"),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'a variable of the name __proto__',
    one: stdio('    env: { __proto__: x }\n'),
    other: stdio('    env: { __proto__: y }\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'url',
    one: http(''),
    other: http('').replace('/mcp', '/other'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'a header',
    one: http('    headers: { A: x }\n'),
    other: http('    headers: { A: y }\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'a prefix',
    one: http('    headers: { A: { prefix: x, env: SEARCH_TOKEN } }\n'),
    other: http('    headers: { A: { env: SEARCH_TOKEN } }\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'oauth',
    one: http('    oauth: { clientId: a }\n'),
    other: http('    oauth: { clientId: b }\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'the issuer',
    one: http('    oauth: { clientId: a }\n'),
    other: http('    oauth: { clientId: a, issuer: https://auth.example.com }\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'sessionId',
    one: http(''),
    other: http('    sessionId: x\n'),
    launch: 'other',
    view: 'same',
  },
  {
    of: 'truely-stateless',
    one: stdio(''),
    other: stdio('    truely-stateless: true\n'),
    launch: 'other',
    view: 'same',
  },
  // Parts of the view
  {
    of: 'whitelist',
    one: stdio(''),
    other: stdio('    tools: { whitelist: [a] }\n'),
    launch: 'same',
    view: 'other',
  },
  {
    of: 'whitelist and blacklist exchanged',
    one: stdio('    tools: { whitelist: [a] }\n'),
    other: stdio('    tools: { blacklist: [a] }\n'),
    launch: 'same',
    view: 'other',
  },
  {
    of: 'order of transforms',
    one: stdio('    transform: [{ prefix: a }, { prefix: b }]\n'),
    other: stdio('    transform: [{ prefix: b }, { prefix: a }]\n'),
    launch: 'same',
    view: 'other',
  },
  {
    of: 'prefix or suffix',
    one: stdio('    transform: [{ prefix: a }]\n'),
    other: stdio('    transform: [{ suffix: a }]\n'),
    launch: 'same',
    view: 'other',
  },
  {
    of: 'prefix or replaced prefix',
    one: stdio('    transform: [{ prefix: a }]\n'),
    other: stdio("    transform: [{ prefix: { remove: '', add: a } }]\n"),
    launch: 'same',
    view: 'other',
  },
  {
    of: 'timeouts',
    one: stdio(''),
    other: stdio('    timeouts: { idle: 1m }\n'),
    launch: 'same',
    view: 'other',
  },
  {
    of: 'prompts',
    one: stdio(''),
    other: stdio('    prompts: { whitelist: [a] }\n'),
    launch: 'same',
    view: 'other',
  },
  {
    of: 'resources',
    one: stdio(''),
    other: stdio('    resources: { blacklist: [a] }\n'),
    launch: 'same',
    view: 'other',
  },
];

describe('hashes of a definition (R2)', () => {
  for (const { of, one, other, launch, view } of cases) {
    it(`${of}: ${launch} launch, ${view} view`, () => {
      const [first, second] = [definitionOf(one), definitionOf(other)];
      assert.equal(first.launchHash === second.launchHash ? 'same' : 'other', launch);
      assert.equal(first.viewHash === second.viewHash ? 'same' : 'other', view);
    });
  }

  it('a changed host value is another launch', () => {
    const text = stdio('    env: { A: { env: SEARCH_TOKEN } }\n');
    const before = definitionOf(text);
    const after = definitionOf(text, { env: { ...hostEnv, SEARCH_TOKEN: 'rotated' } });
    assert.notEqual(before.launchHash, after.launchHash);
    assert.equal(before.viewHash, after.viewHash);
  });

  it('an unused host variable does not change the launch', () => {
    const text = stdio('    env: { A: { env: SEARCH_TOKEN } }\n');
    assert.equal(
      definitionOf(text).launchHash,
      definitionOf(text, { env: { ...hostEnv, NEW: 'x' } }).launchHash,
    );
  });

  it('the hash shows no part of a secret', () => {
    assert.match(
      definitionOf(stdio('    env: { A: { env: SEARCH_TOKEN } }\n')).launchHash,
      /^[0-9a-f]{64}$/,
    );
  });
});
