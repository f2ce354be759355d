import assert from 'node:assert/strict';
import { OneByOne } from '../../../src/core/base/oneByOne.js';

describe('steps one by one', () => {
  it('steps begin in order after the end of the previous one, even a failed one', async () => {
    const steps = new OneByOne();
    const heard: string[] = [];
    const gates: ((error?: Error) => void)[] = [];
    const step = (name: string) => async (): Promise<string> => {
      heard.push(`${name} begins`);
      await new Promise<void>((resolve, reject) =>
        gates.push((error) => (error ? reject(error) : resolve())),
      );
      heard.push(`${name} ends`);
      return name;
    };
    const [first, second, other] = [
      steps.add('a', step('1')),
      steps.add('a', step('2')),
      steps.add('b', step('3')),
    ];
    await new Promise(setImmediate);
    assert.deepEqual(heard, ['1 begins', '3 begins']);
    gates[0]?.(new Error('failed'));
    await assert.rejects(first, /failed/);
    await new Promise(setImmediate);
    assert.deepEqual(heard, ['1 begins', '3 begins', '2 begins']);
    gates[2]?.();
    gates[1]?.();
    assert.deepEqual(await Promise.all([second, other]), ['2', '3']);
    const third = steps.add('a', () => Promise.resolve('4'));
    assert.equal(await third, '4');
  });
});
