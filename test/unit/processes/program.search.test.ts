import assert from 'node:assert/strict';
import { nearestName } from '../../../src/core/processes/program.js';

describe('the nearest command', () => {
  const names = ['node', 'npm', 'npx', 'uv', 'uvx', 'python3', 'docker', 'playwright-mcp'];
  for (const [wanted, nearest] of [
    ['npxx', 'npx'],
    ['nppx', 'npx'],
    ['nxp', 'npx'],
    ['dokcer', 'docker'],
    ['Docker', 'docker'],
    ['pyton3', 'python3'],
    ['playright-mpc', 'playwright-mcp'],
    ['uvxx', 'uvx'],
    ['git', undefined],
    ['something', undefined],
  ] as const) {
    it(`the nearest command to ${wanted} is ${nearest}`, () =>
      assert.equal(nearestName(wanted, names), nearest));
  }
});
