/** Problems for refusals of model providers (D3, D4). */
import assert from 'node:assert/strict';
import { startOfFile } from '../../../../src/core/config/model.js';
import type { Place } from '../../../../src/core/base/problem.js';
import { ModelProblems, type Refusal } from '../../../../src/vscode/minds/modelProblems.js';
import { tool } from '../../minds/fakes.js';
import { file, toolset } from '../views/statuses.js';

const at = (line: number): Place => ({
  file,
  range: { ...startOfFile, start: { line, character: 2 } },
});
const placeOf = (server: string | undefined): Place => at(server === 'shop' ? 7 : 0);
const toolsets = [toolset('shop', 'shop_count', 'shop_echo')];

function refusal(conversation: string, changes: Partial<Refusal> = {}): Refusal {
  const why = { kind: 'rejected', text: 'invalid schema' } as const;
  return {
    conversation,
    vendor: 'acme',
    model: 'Acme One',
    end: { kind: 'stopped', why, tool: 'shop_count' },
    toolset: 'shop',
    text: 'invalid schema',
    ...changes,
  };
}

describe('problems of models', () => {
  let changes: number;
  let problems: ModelProblems;

  beforeEach(() => {
    changes = 0;
    problems = new ModelProblems(() => changes++);
  });

  const codes = (some = toolsets): string[] =>
    problems
      .problems(some, placeOf)
      .map(({ code, server, place }) => `${code} ${server} ${place.range.start.line}`);

  it('the problem of a refusal is at the server of the tool and names vendor, conversation, tool and text', () => {
    problems.refused(refusal('minds-1'));
    const [problem] = problems.problems(toolsets, placeOf);
    assert.equal(
      problem?.message,
      'The provider "acme" of Acme One refused a request of conversation "minds-1" because of the tool "shop_count": invalid schema',
    );
    assert.match(problem.fix, /`tools\.blacklist`.*“@minds \/continue”/);
    assert.deepEqual([codes(), problem.severity, changes], [['model-rejected shop 7'], 'error', 1]);
  });

  it('a refusal without a tool is at the first config file and suggests all remedies', () => {
    const why = { kind: 'unknown', text: 'odd' } as const;
    problems.refused(refusal('minds-1', { end: { kind: 'stopped', why }, toolset: undefined }));
    const [problem] = problems.problems(toolsets, placeOf);
    assert.match(problem?.message ?? '', /failed at a request of conversation "minds-1": /);
    assert.match(problem?.fix ?? '', /grant the member fewer toolsets/);
    assert.deepEqual(codes(), ['model-rejected undefined 0']);
    assert.deepEqual(
      problems.problems(toolsets, () => undefined),
      [],
      'without any file the chat alone says it',
    );
  });

  it('there is one problem for each stopped conversation until it continues', () => {
    problems.refused(refusal('minds-1'));
    problems.refused(refusal('minds-1'));
    problems.refused(refusal('minds-2'));
    assert.equal(codes().length, 2);
    problems.continued('minds-1');
    assert.match(problems.problems(toolsets, placeOf)[0]?.message ?? '', /minds-2/);
    const before = changes;
    problems.continued('minds-1');
    assert.equal(changes, before, 'nothing changed');
  });

  it('the problem of a refusal disappears and returns with its tool', () => {
    problems.refused(refusal('minds-1'));
    assert.deepEqual(codes([toolset('shop', 'shop_echo')]), []);
    assert.deepEqual(codes([]), []);
    assert.equal(codes().length, 1);
  });

  it('a known refusal is reported for the tools of the last request', () => {
    const sent = [tool('shop_count'), tool('shop_echo')];
    problems.foresee({ tools: sent, problems: [] });
    assert.equal(changes, 0);
    const found = [{ tool: 'shop_echo', message: 'Acme refuses `oneOf`.' }];
    problems.foresee({ tools: sent, problems: found });
    const [problem] = problems.problems(toolsets, placeOf);
    assert.deepEqual([codes(), problem?.severity], [['model-may-refuse shop 7'], 'information']);
    assert.equal(problem?.message, 'Acme refuses `oneOf`. The request was sent anyway.');
    assert.deepEqual(codes([toolset('shop', 'shop_count')]), []);
    problems.foresee({ tools: sent, problems: [] });
    assert.deepEqual([codes(), changes], [[], 2]);
  });

  it('a problem about all tools is at the first config file', () => {
    problems.foresee({ tools: [], problems: [{ message: 'Too many.' }] });
    assert.deepEqual(codes(), ['model-may-refuse undefined 0']);
  });
});
