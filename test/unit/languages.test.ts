/** The texts of `package.json` and of the source, and pages, in each language (E5). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../package.json';
import english from '../../package.nls.json';
import { modules } from './modules.js';
import { isMaker, sourceTexts, untaggedTexts } from './sourceTexts.js';

const root = path.resolve(__dirname, '../..');
const languages = readdirSync(root).filter((name) => /^package\.nls\.[\w-]+\.json$/.test(name));
const textsOf = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(path.join(root, name), 'utf8')) as Record<string, string>;
const partsOf = (text: string): string[] =>
  [...text.matchAll(/`[^`]+`|\(command:[^)]+\)|\n/g)].map(([part]) => part).sort();

describe('the manifest in other languages', () => {
  it('package.json has a key in package.nls.json for each text, and no other key', () => {
    const used = [...JSON.stringify(manifest).matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key);
    assert.deepEqual([...new Set(used)].sort(), Object.keys(english).sort());
  });

  it('package.json has no text of a person outside package.nls.json', () => {
    const { contributes, capabilities } = manifest;
    const named = /"(?:title|label|description|markdownDescription|contents|altText)":"([^"%]+)"/g;
    const found = [...JSON.stringify({ contributes, capabilities }).matchAll(named)];
    const texts = found.map(([, text]) => text).filter((text) => text !== 'MCP Toolsets');
    assert.deepEqual(texts, []);
  });

  it('Each language has the keys of package.nls.json, and each text the same code and links', () => {
    assert.ok(languages.includes('package.nls.zh-cn.json'));
    for (const language of languages) {
      const texts = textsOf(language);
      assert.deepEqual(Object.keys(texts).sort(), Object.keys(english).sort(), language);
      for (const [key, text] of Object.entries(english))
        assert.deepEqual(partsOf(texts[key] ?? ''), partsOf(text), `${language} ${key}`);
    }
  });
});

/** The places of texts in English, with the reason. */
const inEnglish: Readonly<Record<string, string>> = {
  'vscode/commands/bugReport.ts': 'A maintainer reads it.',
  'vscode/commands/copyDiagnostics.ts': 'A maintainer reads it.',
  'vscode/commands/configEdits.ts': 'The examples in config files, which a team shares.',
  'vscode/engine/': 'Logs, and errors for logs.',
  'vscode/minds/chatModel.ts': 'Texts for models.',
  'vscode/minds/newFolders.ts': 'The name of a folder for a moment.',
  'vscode/minds/participant.ts': 'Texts for models.',
  'vscode/minds/questions.ts': 'The answer of a tool, for models.',
  'vscode/toolsets/mcpProvider.ts': 'Logs.',
  'vscode/tryTool/appBridge.ts': 'Answers to apps.',
};

/** Names, and words that no person sees. */
const notTexts =
  /^MCP Toolsets$|^JSON Lines$|^default-src |^<!doctype html>|^event instance$|^start failed$|^transport: \w+$|^\{ prefix: /;

/** Pronouns, which other languages leave out. */
const pronouns = new Set(['{it}', '{them}']);

describe('the texts of the source in other languages', () => {
  const folder = path.join(root, 'l10n');
  const bundles = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const keys = new Map(sourceTexts.map(({ key, at }) => [key, at]));
  const placesIn = (text: string): string[] =>
    [...new Set([...text.matchAll(/\{\w+\}/g)].map(([place]) => place))]
      .filter((place) => !pronouns.has(place))
      .sort();
  const codeIn = (text: string): string[] =>
    [...text.matchAll(/`[^`]*`/g)].map(([code]) => code).sort();

  it('Each bundle has a translation for each text of the source, and no other', () => {
    assert.ok(bundles.includes('bundle.l10n.zh-cn.json'));
    for (const bundle of bundles) {
      const texts = textsOf(`l10n/${bundle}`);
      const missing = [...keys].filter(([key]) => !Object.hasOwn(texts, key));
      assert.deepEqual(missing, [], `${bundle} lacks texts`);
      const needless = Object.keys(texts).filter((key) => !keys.has(key.replace(/#\w+$/, '')));
      assert.deepEqual(needless, [], `${bundle} has texts that the source lacks`);
    }
  });

  it('The names of reviewed documents are those of the manifest, which gives them their language', () => {
    const names = Object.entries(english).filter(([key]) => key.startsWith('review.'));
    assert.equal(names.length, 5);
    for (const bundle of bundles) {
      const language = bundle.replace('bundle.l10n', 'package.nls');
      for (const [key, name] of names)
        assert.equal(textsOf(language)[key], textsOf(`l10n/${bundle}`)[name], key);
    }
  });

  it('Each translation has the places and the code of its text', () => {
    for (const bundle of bundles)
      for (const [key, text] of Object.entries(textsOf(`l10n/${bundle}`))) {
        assert.deepEqual(placesIn(text), placesIn(key), key);
        assert.deepEqual(codeIn(text), codeIn(key), key);
      }
  });

  it('A text at the top of a module is translated when it is shown, unless the module is loaded on demand', () => {
    // The language is known when `activate` begins, after its modules are loaded.
    const onDemand = ['minds/explainTool', 'agents/setUp', 'commands/importing'];
    const atTop = /^(?:export )?const \w+(?:: \w+)? =\s+(?:inert|formatted|said)`[^`]/m;
    const wrong = modules
      .filter(({ text }) => atTop.test(text))
      .map(({ file }) => file)
      .filter((file) => !onDemand.some((name) => file === `src/vscode/${name}.ts`));
    assert.deepEqual(wrong, []);
  });

  it('No text with values for a person in a catalogue of the core is outside the bundles', () => {
    const outside = modules
      .filter(isMaker)
      .flatMap(untaggedTexts)
      .filter(({ isWhole }) => !isWhole);
    assert.deepEqual(outside, [], 'Write english`…` or advised`…`: l10n/README.md');
  });

  it('No text for a person in src/vscode and src/webview is outside the bundles', () => {
    const shown = modules.filter(
      ({ file }) =>
        /^src\/(?:vscode|webview|extension|core\/authoring\/|core\/team\/teamCompletion)/.test(
          file,
        ) && !Object.keys(inEnglish).some((place) => file.startsWith(`src/${place}`)),
    );
    const outside = shown
      .flatMap(untaggedTexts)
      .filter(({ key }) => !keys.has(key) && !notTexts.test(key));
    assert.deepEqual(outside, [], 'Write said`…`, english`…` or plural(…): l10n/README.md');
  });
});

describe('the pages in other languages', () => {
  const pages = ['README.md', 'docs/recipes.md'];
  const walkthrough = readdirSync(path.join(root, 'media/walkthrough'))
    .filter((name) => /^\w+\.md$/.test(name))
    .map((name) => `media/walkthrough/${name}`);
  const read = (page: string): string => readFileSync(path.join(root, page), 'utf8');
  const code = /^( *)```[^]*?^\1```$/gm;
  /** The depths of the headings, the code, and the targets of links and pictures. */
  const structureOf = (text: string) => {
    const prose = text.replace(code, '').replaceAll('README.zh-CN.md', 'README.md');
    return {
      headings: [...prose.matchAll(/^(#+) /gm)].map(([, depth]) => depth),
      blocks: text.match(code) ?? [],
      codes: [...prose.matchAll(/`[^`\n]+`/g)].map(([found]) => found).sort(),
      links: [...prose.matchAll(/\]\(([^)]+)\)/g)]
        .map(([, target = '']) => target.replace('.zh-CN.md', '.md'))
        .sort(),
    };
  };

  it('README.md and docs/recipes.md have a page in Chinese with the same headings, code and links', () => {
    for (const page of pages) {
      const chinese = read(page.replace('.md', '.zh-CN.md'));
      assert.deepEqual(structureOf(chinese), structureOf(read(page)), page);
    }
    assert.match(read('README.md').split('\n')[0] ?? '', /\(README\.zh-CN\.md\)$/);
    assert.match(read('README.zh-CN.md').split('\n')[0] ?? '', /\(README\.md\)$/);
  });

  it('Each page of the walkthrough has one in Chinese, which the editor finds by its name', () => {
    for (const page of walkthrough) {
      const chinese = read(page.replace('.md', '.nls.zh-cn.md'));
      const { headings, codes, links } = structureOf(read(page));
      const found = structureOf(chinese);
      assert.deepEqual([found.headings, found.codes, found.links], [headings, codes, links], page);
    }
  });
});
