/** Links to artifacts under short names. */
import assert from 'node:assert/strict';
import { artifactPath, linkName } from '../../../../src/vscode/minds/artifactNames.js';

describe('names of links to artifacts', () => {
  const cases: readonly (readonly [name: string, extension: string, expected: string])[] = [
    ['my_chart', '.png', 'my_chart.png'],
    ['the chart', '.png', 'the chart.png'],
    ['chart.PNG', '.png', 'chart.PNG'],
    ['`a/b\\c`?', '.wav', 'a b c.wav'],
    ['', '.txt', 'file.txt'],
    ['../..', '.txt', 'file.txt'],
    ['.png', '.png', 'png.png'],
    ['Größe 1', '.json', 'Größe 1.json'],
    ['x'.repeat(100), '.bin', `${'x'.repeat(60)}….bin`],
  ];
  for (const [name, extension, expected] of cases) {
    it(JSON.stringify(name.slice(0, 20)), () => {
      const made = linkName(name, extension);
      assert.equal(made, expected);
      assert.deepEqual(
        artifactPath(`/shop/look/a.png/${made}`),
        ['shop', 'look', 'a.png'],
        'one part of a path',
      );
    });
  }

  it('names of links have only whole characters, because half of a pair cannot be in an address', () => {
    const names = ['half \ud800', `${'x'.repeat(59)}😀😀`].map((name) => linkName(name, '.png'));
    assert.deepEqual(names, ['half \ufffd.png', `${'x'.repeat(59)}….png`]);
  });

  it('only a path of three parts and a name is a link to a file', () => {
    assert.deepEqual(artifactPath('/shop/look/2026-11-21T20-27-08.250Z-ab.png/x.png'), [
      'shop',
      'look',
      '2026-11-21T20-27-08.250Z-ab.png',
    ]);
    for (const path of [
      '',
      '/',
      '/shop/look/a.png',
      '/shop/look/a.png/',
      '/shop/look/a.png/x/y',
      '/../look/a.png/x',
      '/shop/./a.png/x',
      '/shop/look/../x',
      '/shop//a.png/x',
      '/shop/lo\\ok/a.png/x',
      'shop/look/a.png/x',
    ]) {
      assert.equal(artifactPath(path), undefined, path);
    }
  });
});
