/** Texts that are longer than an agent keeps (H1e). */
import assert from 'node:assert/strict';
import { textsCut, togetherCut } from '../../../src/core/tools/textLimits.js';
import { startOfFile } from '../../../src/core/config/model.js';
import { servedTool } from '../vscode/views/statuses.js';

const key = { file: '/ws/.minds/mcp.yaml', range: startOfFile };
const at = { server: 'a', places: { key, value: () => key, keyAt: () => key } };
const tool = (name: string, length: number) => {
  const served = servedTool(name);
  return { ...served, tool: { ...served.tool, description: 'x'.repeat(length) } };
};

describe('texts that an agent cuts', () => {
  it('A description or instructions above 2,048 characters are one information at the server', () => {
    const none = { manual: undefined, instructions: undefined };
    const fits = {
      tools: [tool('a', 2_048)],
      manual: 'x'.repeat(1_000),
      instructions: 'x'.repeat(1_046),
    };
    assert.deepEqual(textsCut(at, fits), []);
    const [problem, ...more] = textsCut(at, {
      ...fits,
      tools: [tool('b', 2_049)],
      manual: 'x'.repeat(1_001),
    });
    assert.equal(more.length, 0);
    assert.deepEqual(
      [problem?.code, problem?.severity, problem?.place, problem?.server],
      ['text-cut', 'information', key, 'a'],
    );
    assert.match(
      problem?.message ?? '',
      /^Claude Code keeps 2048 characters .*: its instructions \(2049\), and the description of "b" \(2049\)\.$/,
    );
    const many = Array.from({ length: 1_000 }, (_, index) => tool(`t${index}`, 3_000));
    const [long] = textsCut(at, { ...none, tools: many });
    assert.ok((long?.message.length ?? 0) < 400, long?.message);
    assert.match(long?.message ?? '', /and 995 more/);
  });

  it('The instructions of all toolsets together are one information at the first toolset that is cut', () => {
    const part = (id: string, length: number) => ({ id, text: 'x'.repeat(length) });
    const cut = (...parts: ReturnType<typeof part>[]) =>
      togetherCut(parts, (id) => (id === 'ours' ? undefined : { ...at, server: id }));
    assert.deepEqual(cut(part('a', 1_000), part('b', 1_046)), []);
    assert.deepEqual(cut(part('a', 3_000)), [], 'one toolset alone');
    assert.deepEqual(cut(part('a', 2_000), part('ours', 100)), [], 'nothing of the file is cut');
    const [problem, ...more] = cut(part('a', 1_000), part('b', 1_047), part('c', 500));
    assert.equal(more.length, 0);
    assert.deepEqual(
      [problem?.code, problem?.severity, problem?.place, problem?.server],
      ['text-cut', 'information', key, 'b'],
    );
    assert.match(problem?.message ?? '', /keeps 2048 characters .* which have 2551\. .* "b"/);
  });
});
