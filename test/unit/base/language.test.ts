/** Texts in the language of the person (E5). */
import assert from 'node:assert/strict';
import { code, formatted, inert } from '../../../src/core/base/inert.js';
import {
  english,
  filled,
  plural,
  said,
  speak,
  translated,
} from '../../../src/core/base/language.js';
import { shortList } from '../../../src/core/base/text.js';

describe('the language of the person', () => {
  afterEach(() => speak('en', undefined));
  const hello = (name: string): string => said`Hello ${name}, from ${'a'}`;

  it('Without a bundle, every text is English', () => {
    assert.equal(hello('b'), 'Hello b, from a');
    assert.equal(translated('Hello'), 'Hello');
    assert.equal(plural(1, '1 tool', '{0} tools'), '1 tool');
    assert.equal(plural(0, '1 tool', '{0} tools'), '0 tools');
  });

  it('A translation has the values in its own order, once or several times', () => {
    speak('de', { 'Hello {0}, from {1}': '{1} grüßt {0} ({0})' });
    assert.equal(hello('b'), 'a grüßt b (b)');
    assert.equal(inert`Hello ${'b'}, from ${'$(x)'}`, '$ (x) grüßt b (b)');
    assert.equal(formatted`Hello ${code('b')}, from ${'_'}`.value, '\\_ grüßt `b` (`b`)');
  });

  it('A value is never translated and never read as a template', () => {
    speak('de', {
      failed: 'gescheitert',
      'Hello {0}, from {1}': '{0}/{1}',
      '{0} is {1}': '{0}: {1}',
    });
    assert.equal(hello('{1}'), '{1}/a');
    assert.equal(inert`Hello ${'failed'}, from ${'{0}'}`, 'failed/{0}');
    assert.equal(translated(english`${'failed'} is ${'{0}'}`), 'failed: {0}');
    assert.equal(translated(filled('{0} is {1}', { 0: '{1}', 1: 'failed' })), '{1}: failed');
  });

  it('A text of the core stays English, and a view translates it with the texts inside', () => {
    const text = {
      '"{server}" {said}': '„{server}“ {said}',
      'did not start: {0}': 'startet nicht: {0}',
    };
    speak('de', { ...text, 'the file is gone': 'die Datei fehlt' });
    const reason = english`did not start: ${'the file is gone'}`;
    const message = filled('"{server}" {said}', { server: 'x', said: reason });
    assert.equal(message, '"x" did not start: the file is gone');
    assert.equal(translated(message), '„x“ startet nicht: die Datei fehlt');
  });

  it('A name such as toString or __proto__ is no translation and no place', () => {
    speak('de', {});
    for (const name of ['toString', '__proto__', 'constructor']) {
      assert.equal(translated(name), name);
      assert.equal(translated(filled(`{${name}} of {server}`, { server: 's' })), `{${name}} of s`);
    }
  });

  it('A count takes the form of the language, or the form for all other counts', () => {
    speak('ru', {
      '{0} tools': '{0} инструмента',
      '{0} tools#one': '{0} инструмент',
      '{0} tools#many': '{0} инструментов',
    });
    const tools = (count: number): string => plural(count, '1 tool', '{0} tools');
    assert.deepEqual([1, 2, 5, 21].map(tools), [
      '1 инструмент',
      '2 инструмента',
      '5 инструментов',
      '21 инструмент',
    ]);
    speak('zh-cn', { '{0} tools': '{0} 个工具' });
    assert.equal(tools(1), '1 个工具');
    assert.equal(plural(2, '1 of {1}', '{0} of {1}', '{0}'), '2 of {0}');
  });

  it('A list of phrases is translated phrase by phrase, and names stay', () => {
    const texts = {
      '{0} changed': '{0} 已更改',
      tool: '工具',
      '{0} and {1} more': '{0} 等 {1} 个',
    };
    speak('zh-cn', texts);
    const phrase = (name: string): string =>
      filled('{of} ({state})', {
        of: filled('{kind} "{name}"', { kind: 'tool', name }),
        state: english`${'title'} changed`,
      });
    const list = shortList([phrase('a'), phrase('b'), 'c', 'd'], 3);
    assert.equal(translated(list), '工具 "a" (title 已更改), 工具 "b" (title 已更改), c 等 1 个');
  });

  it('Of very many texts, those that were made last are translated', () => {
    speak('de', { 'number {0}': 'Nummer {0}' });
    const texts = Array.from({ length: 6000 }, (_, number) => english`number ${number}`);
    assert.equal(translated(texts[5999] ?? ''), 'Nummer 5999');
    assert.equal(translated(texts[0] ?? ''), 'number 0');
  });
});
