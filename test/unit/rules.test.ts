/**
 * `src/rules.md` and its citations hold together. Each cited rule exists, each citation fits the
 * subject of its rule, and a test cites each rule.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { groupedBy } from '../../src/core/base/groupedBy.js';
import {
  citationsIn,
  citingFiles,
  readRules,
  repository,
  subjectsIn,
  type Citation,
} from './citations.js';

const rules = readRules(readFileSync(path.join(repository, 'src/rules.md'), 'utf8'));
const ruleOf = new Map(rules.map((rule) => [rule.id, rule]));
const ids = rules.map(({ id }) => id);
const citations = citingFiles().flatMap((file) => citationsIn(file));

/** Only what fails if the product changes. The text of a page or of a helper proves nothing. */
const isTest = (file: string): boolean =>
  /^test\/.*\.test\.ts$/.test(file) || /^test\/(agents|bench|servers)\/\w+\.ts$/.test(file);

const where = ({ file, line, id, sentence }: Citation): string =>
  `${file}:${line} cites ${id} in “${sentence}”`;

/** The rules that no test can hold, with the reason. */
const untested: Readonly<Record<string, string>> = {};

/**
 * The share of the other rules of a chapter that a citing sentence fits too. It says how much the
 * subjects tell apart, and only falls.
 */
const mostMistaken = 0.08;

describe('rules', () => {
  it('Each rule has a unique number, in the order of the chapters', () => {
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    );
    const page = readFileSync(path.join(repository, 'src/rules.md'), 'utf8');
    const chapters = [...page.matchAll(/^## ([A-Z])\. /gm)].map(([, letter]) => letter);
    assert.deepEqual([...new Set(ids.map((id) => id[0]))], chapters);
  });

  it('Each rule has a subject and at most 120 words, so that a reader can take it in at once', () => {
    assert.deepEqual(
      rules.filter(({ subjects }) => subjects.length === 0).map(({ id }) => id),
      [],
    );
    assert.deepEqual(
      rules
        .map(({ id, text }): [string, number] => [id, text.split(/\s+/).filter(Boolean).length])
        .filter(([, words]) => words > 120),
      [],
    );
  });

  it('The page of the rules has at most 845 lines', () => {
    const page = readFileSync(path.join(repository, 'src/rules.md'), 'utf8');
    assert.ok(page.trimEnd().split('\n').length <= 845);
  });

  it('Each cited rule exists', () => {
    assert.deepEqual(citations.filter(({ id }) => !ruleOf.has(id)).map(where), []);
  });

  it('Each citation fits the subject of its rule', () => {
    const misleading = citations.filter(({ id, sentence }) => {
      const rule = ruleOf.get(id);
      return rule !== undefined && sentence !== undefined && !subjectsIn(sentence)(rule);
    });
    assert.deepEqual(misleading.map(where), []);
  });

  it('A test cites each rule, unless no test can hold it', () => {
    const cited = new Set(citations.filter(({ file }) => isTest(file)).map(({ id }) => id));
    assert.deepEqual(
      ids.filter((id) => !cited.has(id)),
      Object.keys(untested),
    );
  });
});

describe('the subjects of the rules', () => {
  const mistakes: Readonly<Record<string, string>> = {
    'Makes foreign text inert for every view.': 'S1d',
    'Every message is redacted and made inert before it is written.': 'S1d',
    'Markdown of the editor’s keywords could hold active pictures and links.': 'S1d',
    'The only way to write a file in a folder of others.': 'S1c',
    'No write leaves `root`, the folder around the agent’s file.': 'S1c',
    'A workspace must not cause reads of other files.': 'C2b',
    'Masks secrets in a launch for a review.': 'S1e',
    'In columns, so every word is in sight.': 'S1f',
  };

  for (const [sentence, right] of Object.entries(mistakes)) {
    it(`The subjects refuse a citation of S1a that means ${right}: ${sentence}`, () => {
      const isFit = subjectsIn(sentence);
      assert.ok(!isFit(ruleOf.get('S1a') ?? assert.fail('S1a')));
      assert.ok(isFit(ruleOf.get(right) ?? assert.fail(right)));
    });
  }

  it('The subjects tell the rules of a chapter apart', () => {
    const meant = groupedBy(
      citations.filter(({ sentence }) => sentence !== undefined),
      ({ sentence = '' }) => sentence,
    );
    let compared = 0;
    let mistaken = 0;
    for (const [sentence, cited] of meant) {
      const isFit = subjectsIn(sentence);
      const letters = new Set(cited.map(({ id }) => id[0]));
      const others = rules.filter(
        ({ id }) => letters.has(id[0]) && !cited.some((citation) => citation.id === id),
      );
      compared += others.length;
      mistaken += others.filter(isFit).length;
    }
    assert.ok(mistaken / compared <= mostMistaken, `${mistaken} of ${compared}`);
  });
});
