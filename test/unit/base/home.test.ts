/** The home folder of the person (C5, S1g). */
import assert from 'node:assert/strict';
import { accessSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { hasHome, homedir } from '../../../src/core/base/home.js';
import { filesBelow, moduleOf, root } from '../modules.js';

describe('the home folder', () => {
  const names = ['HOME', 'USERPROFILE'] as const;
  const before = names.map((name) => process.env[name]);
  const set = (home: string): void => names.forEach((name) => (process.env[name] = home));

  afterEach(() =>
    names.forEach((name, index) => {
      const value = before[index];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }),
  );

  it('an absolute HOME is the home folder, also if it does not exist', () => {
    const home = path.resolve('/missing/home');
    set(home);
    assert.deepEqual([homedir(), hasHome()], [home, true]);
  });

  for (const home of ['', '.', 'home', './x', '~', ' '])
    it(`HOME=${JSON.stringify(home)} is no home: nothing can be read or made there (S1g)`, () => {
      set(home);
      assert.equal(hasHome(), false);
      assert.ok(path.isAbsolute(homedir()));
      assert.throws(() => accessSync(homedir()));
      assert.throws(() => mkdirSync(path.join(homedir(), '.minds'), { recursive: true }));
    });

  it('only core/base/home asks the system for the home folder', () => {
    const asking = filesBelow(path.join(root, 'src'))
      .map(moduleOf)
      .filter(({ file, imports, text }) => {
        const names = imports
          .filter(({ to }) => /^(node:)?os$/.test(to))
          .flatMap((one) => one.names);
        const isAsked = names.some((name) =>
          ['homedir', 'userInfo', '*', 'default'].includes(name),
        );
        return (
          file !== 'src/core/base/home.ts' &&
          (isAsked || /env(\.|\[['"])(HOME|USERPROFILE)\b/.test(text))
        );
      });
    assert.deepEqual(
      asking.map(({ file }) => file),
      [],
    );
  });
});
