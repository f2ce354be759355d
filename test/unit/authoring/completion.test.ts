import assert from 'node:assert/strict';
import {
  complete,
  type CompletionDeps,
  type Suggestion,
} from '../../../src/core/authoring/completion.js';
import { parse } from '../config/fixtures.js';

const around: CompletionDeps = {
  tools: (server) =>
    server === 'a'
      ? ['browser_click', 'browser_type', 'open'].map((original) => ({
          original,
          description: `Does ${original}.`,
          arguments: new Map([
            ['url', {}],
            ['button', {}],
          ]),
        }))
      : [],
  variables: ['BASE', 'HOME', 'OLDPWD', 'SEARCH_TOKEN'],
  entries: (path) =>
    Promise.resolve(
      (path === '' ? ['src', 'test', '.git', 'run.mjs'] : path === 'src' ? ['core'] : []).map(
        (name) => ({
          name,
          isFolder: !name.includes('mjs'),
        }),
      ),
    ),
};

async function at(marked: string): Promise<readonly Suggestion[]> {
  return complete(marked.replace('¦', ''), marked.indexOf('¦'), around);
}

/**
 * The text after accepting a suggestion, with placeholders at their defaults and the editor's
 * indentation.
 */
async function taken(marked: string, label: string): Promise<string> {
  const found = await at(marked);
  const one = found.find((suggestion) => suggestion.label === label);
  assert.ok(one, `${label} is not among ${found.map((suggestion) => suggestion.label).join(', ') || 'none'}`);
  const text = marked.replace('¦', '');
  const indent = /[ ]*$/.exec(text.slice(text.lastIndexOf('\n', one.span.start - 1) + 1, one.span.start))?.[0] ?? '';
  const written = one.snippet
    .replace(/\$\{\d+\|([^,|]*)[^}]*\}|\$\{\d+:([^}]*)\}|\$\d+/g, (_, choice?: string, word?: string) => choice ?? word ?? '')
    .replace(/\\([\\$}])/g, '$1')
    .replaceAll('\n', `\n${indent}`);
  return text.slice(0, one.span.start) + written + text.slice(one.span.end);
} // oxfmt-ignore

const server = 'version: 1\nservers:\n  a:\n    transport: stdio\n    command: npx\n';

describe('completion (E2)', () => {
  const offered: readonly (readonly [string, string, string])[] = [
    ['an empty file', '¦', 'config file: stdio|config file: streamable_http|config file: streamable_http with a token|version|servers|maxInstances'],
    ['a file of comments', '# mine\n¦', 'config file: stdio|config file: streamable_http|config file: streamable_http with a token|version|servers|maxInstances'],
    ['a file with a version', 'version: 1\n¦', 'servers maxInstances'],
    ['below `servers`', 'servers:\n  ¦', 'server: stdio|server: streamable_http|server: streamable_http with a token'],
    ['a server with no transport', 'servers:\n  a:\n    ¦', 'transport command args cwd env envFile url headers sessionId oauth enabled stateless truely-stateless start spare tools transform timeouts prompts resources manual'],
    ['a program', `${server}    ¦`, 'args cwd env envFile enabled stateless truely-stateless start spare tools transform timeouts prompts resources manual'],
    ['a server with `stateless`', `${server}    stateless: true\n    ¦`, 'args cwd env envFile enabled start spare tools transform timeouts prompts resources manual'],
    ['a server with `truely-stateless`', `${server}    truely-stateless: true\n    ¦`, 'args cwd env envFile enabled start spare tools transform timeouts prompts resources manual'],
    ['a server at a URL, while a key is typed', 'servers:\n  a:\n    ¦\n    transport: streamable_http\n', 'url headers sessionId oauth enabled stateless truely-stateless start spare tools transform timeouts prompts resources manual'],
    ['transports', 'servers: { a: { transport: ¦ } }', 'stdio streamable_http'],
    ['truth', `${server}    enabled: ¦`, 'true false'],
    ['durations', `${server}    timeouts: { idle: ¦ }`, '10s 30s 1m 5m 10m 15m 30m 60m'],
    ['keys of timeouts', `${server}    timeouts: { idle: 1m, ¦ }`, 'connect call callMax'],
    ['live names of tools', `${server}    tools:\n      whitelist:\n        - ¦`, 'browser_* browser_click browser_type open'],
    ['live names in flow style', `${server}    tools: { blacklist: ['ope¦`, 'browser_* browser_click browser_type open'],
    ['names below a list’s key', `${server}    tools:\n      whitelist:\n        ¦`, 'browser_* browser_click browser_type open'],
    ['tools to override', `${server}    tools:\n      override:\n        ¦`, 'browser_click browser_type open'],
    ['tools to override in flow style', `${server}    tools: { override: { open: {}, ¦ } }`, 'browser_click browser_type'],
    ['keys of an override', `${server}    tools:\n      override:\n        open:\n          ¦`, 'description arguments'],
    ['arguments of a tool', `${server}    tools:\n      override:\n        open:\n          arguments:\n            ¦`, 'button url'],
    ['keys of an argument', `${server}    tools: { override: { open: { arguments: { url: { ¦ } } } } }`, 'fixed default allow'],
    ['no names for prompts', `${server}    prompts:\n      whitelist:\n        - ¦`, ''],
    ['variables for a reference', `${server}    env: { T: { env: ¦`, 'SEARCH_TOKEN BASE HOME OLDPWD'],
    ['variables for a reference, that of the same name first', `${server}    env: { BASE: { env: ¦`, 'BASE SEARCH_TOKEN HOME OLDPWD'],
    ['variables for a name', `${server}    env:\n      ¦`, 'SEARCH_TOKEN BASE HOME OLDPWD'],
    ['references for a variable', `${server}    env:\n      T: ¦`, '{ env: … }|{ secret: … }|{ command: … }'],
    ['references for a header', 'servers:\n  a:\n    headers:\n      H: ¦', "{ prefix: 'Bearer ', env: … }|{ prefix: 'Bearer ', secret: … }|{ env: … }|{ secret: … }|{ command: … }"],
    ['references for a secret of OAuth', 'servers:\n  a:\n    oauth:\n      clientSecret: ¦', '{ env: … }|{ secret: … }|{ command: … }'],
    ['folders', `${server}    cwd: ¦`, '. src test'],
    ['folders in a folder', `${server}    cwd: 'src/¦'`, 'src/core'],
    ['paths for arguments', `${server}    args: ['-y', ¦]`, '.|{ env: … }|{ secret: … }|{ command: … }|src|test|run.mjs'],
    ['paths in a folder', `${server}    args:\n      - './src/¦'`, './src/core'],
    ['no paths for an option', `${server}    args: ['-¦']`, ''],
    ['a program of the workspace', `${server.replace('npx', './¦')}`, './src ./test ./run.mjs'],
    ['transforms', `${server}    transform:\n      - ¦`, 'prefix suffix replace'],
    ['one for a transform', `${server}    transform:\n      - prefix: x\n        ¦`, ''],
    ['in broken YAML', 'servers: {\n  a: [\nservers:\n  a:\n    transport: "\n    enabled: ¦', 'true false'],
    ['nothing in a comment', 'servers:\n  # ¦', ''],
    ['a reference for an address', `${server}    url: ¦`, '{ prefix: https://…, env: … }'],
    ['keys of a reference in an argument', `${server}    args:\n      - { env: A, ¦ }`, 'prefix suffix default'],
    ['nothing in a free value', `${server}    sessionId: htt¦`, ''],
  ]; // oxfmt-ignore
  for (const [name, marked, labels] of offered) {
    it(name, async () => {
      const found = [...(await at(marked))]
        .sort((a, b) => (a.order < b.order ? -1 : 1))
        .map(({ label }) => label);
      assert.equal(found.join(labels.includes('|') ? '|' : ' '), labels);
    });
  }

  const writes: readonly (readonly [string, string, string])[] = [
    ['servers:\n  sea¦', 'server: stdio', "servers:\n  sea:\n    transport: stdio\n    command: npx\n    args: ['-y', 'package']\n  "],
    ['servers:\n  a:\n    tra¦\n', 'transport', 'servers:\n  a:\n    transport: \n'],
    ['servers:\n  a:\n    transport:¦\n', 'stdio', 'servers:\n  a:\n    transport: stdio\n'],
    ['servers:\n  a:\n    trans¦port: stdio\n', 'command', 'servers:\n  a:\n    command: stdio\n'],
    ["servers:\n  a:\n    transport: 's¦'\n", 'stdio', "servers:\n  a:\n    transport: 'stdio'\n"],
    ['{"servers":{"a":{"tra¦"}}}', 'transport', '{"servers":{"a":{"transport": }}}'],
    ['servers: { a: { ¦ } }', 'headers', "servers: { a: { headers: { Authorization: { prefix: 'Bearer ', env: NAME } } } }"],
    [`${server}    args: [¦]`, 'run.mjs', `${server}    args: ['run.mjs']`],
    [`${server}    tools: { whitelist: [ope¦] }`, 'open', `${server}    tools: { whitelist: ['open'] }`],
    [`${server}    tools: { whitelist: ["ope¦"] }`, 'open', `${server}    tools: { whitelist: ["open"] }`],
    [`${server}    tools: { whitelist: ¦ }`, 'open', `${server}    tools: { whitelist: ['open'] }`],
    [`${server}    tools:\n      whitelist:\n        ¦`, 'browser_*', `${server}    tools:\n      whitelist:\n        - 'browser_*'`],
    [`${server}    transform:\n      ¦`, 'suffix', `${server}    transform:\n      - suffix: ''`],
    [`${server}    transform: [¦]`, 'prefix', `${server}    transform: [{ prefix: '' }]`],
    [`${server}    transform:\n      ¦`, 'replace', `${server}    transform:\n      - replace: { '.': '_' }`],
    [`${server}    env:\n      SEA¦`, 'SEARCH_TOKEN', `${server}    env:\n      SEARCH_TOKEN: { env: SEARCH_TOKEN }`],
    [`${server}    headers:\n      Auth: ¦`, "{ prefix: 'Bearer ', env: … }", `${server}    headers:\n      Auth: { prefix: 'Bearer ', env:  }`],
    [`${server}    env:\n      T: ¦`, '{ env: … }', `${server}    env:\n      T: { env: T }`],
    [`${server}    env:\n      T: ¦`, '{ secret: … }', `${server}    env:\n      T: { secret: T }`],
    [`${server}    args: [¦]`, '{ command: … }', `${server}    args: [{ command: [''] }]`],
    [`${server}    tools¦`, 'tools', `${server}    tools:\n      whitelist:\n        - ''`],
  ]; // oxfmt-ignore
  for (const [marked, label, expected] of writes) {
    it(`${label} in ${JSON.stringify(marked.slice(-40))}`, async () =>
      assert.equal(await taken(marked, label), expected));
  }

  /** The version of a package is not pinned before a person names the package. */
  const mistakesIn = (text: string) =>
    parse(text).problems.filter(({ code }) => code !== 'version-not-pinned');

  it('a whole file made only by completion is valid', async () => {
    for (const label of ['config file: stdio', 'config file: streamable_http']) {
      assert.deepEqual(mistakesIn(await taken('¦', label)), []);
    }
  });

  it('a first server made only by completion is a valid file', async () => {
    let text = await taken('¦', 'version');
    text = await taken(`${text}\n¦`, 'servers');
    text = await taken(`${text.trimEnd()}\n  ¦`, 'server: stdio');
    assert.deepEqual(mistakesIn(text), []);
    text = (await taken('version: 1\nservers:\n  ¦', 'server: streamable_http with a token')).replace('NAME', 'SEARCH_TOKEN');
    assert.deepEqual(parse(text).problems, []);
  }); // oxfmt-ignore

  it('every key is documented', async () => {
    for (const { documentation } of await at('servers:\n  a:\n    ¦'))
      assert.ok(documentation.value.length > 10);
  });
});
