/** The place of a script in the page of an app (G8). */
import assert from 'node:assert/strict';
import { withHeadScript } from '../../../src/core/apps/headScript.js';

const script = '<script>run()</script>';

describe('a script at the head of a page (G8)', () => {
  for (const [before, after] of [
    ['<!doctype html><html><HEAD lang="x">', '<meta>'],
    ['<!doctype html><html\nlang="en">', '<p>'],
    ['<!DOCTYPE html>', '<p>'],
    ['', '<p>hi</p>'],
    ['', '<head'],
    ['<html>', '<p><head'],
  ] as const) {
    it(`the script comes between ${JSON.stringify(before)} and ${JSON.stringify(after)}`, () => {
      assert.equal(withHeadScript(before + after, 'run()'), before + script + after);
    });
  }

  it('a large page without closed tags takes no longer', () => {
    const page = '<head<html<!doctype'.repeat((8 << 20) / 19);
    assert.equal(withHeadScript(page, 'run()'), script + page);
  });
});
