/** Why an agent has a tool or not. */
import assert from 'node:assert/strict';
import { explain } from '../../../src/core/catalogue/explain.js';
import { servedTool, snapshot, status, toolset } from '../vscode/views/statuses.js';

const noPlace = {
  file: '/f',
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
};

const found = (name: string): string[] => {
  const asked = { ...servedTool('files_read', { original: 'read' }), isAsked: true as const };
  const long = { ...servedTool('files_long'), editorRefuses: { kind: 'idTooLong' } as const };
  const excluded = [
    { original: 'delete', reason: { kind: 'blacklist', pattern: 'del*' } as const },
    {
      original: 'same',
      reason: { kind: 'nameTaken', published: 'files_same', holder: 'other' } as const,
    },
  ];
  const files = status('files', {
    tools: [asked, long],
    excluded,
    offered: 4,
    placeOf: ({ reason }) => (reason.kind === 'blacklist' ? noPlace : undefined),
  });
  const waiting = status('waiting', { state: { kind: 'stopped', since: 0 }, offered: 0 });
  const members = [
    { id: 'ann', grants: [{ grant: { kind: 'all' } as const, place: noPlace }] },
    { id: 'bob', grants: [{ grant: { kind: 'toolset', id: 'other' } as const, place: noPlace }] },
  ];
  const { tools, silent } = explain(
    name,
    { ...snapshot([files, waiting]), builtIn: toolset('mcp_admin', 'release') },
    members,
  );
  return [
    ...tools.flatMap(({ original, roads }) =>
      roads.map(
        (answer) =>
          `${original}, ${answer.road}: ${answer.offered ? `${answer.name} ${answer.note ?? ''}` : `${answer.why} ${answer.place?.file ?? ''}`.trim()}`,
      ),
    ),
    ...silent,
  ];
};

describe('why an agent has a tool or not', () => {
  const everywhere = [
    'read, editor: mcp_demo_files_read a person is asked before each call, if the tool picker of the chat has it on',
    'read, agent sessions: files-files_read a person is asked before each call',
    'read, other agents: files_read a person is asked before each call',
    'read, @minds as ann: files_read a person is asked before each call',
    'read, @minds as bob: the toolset is not granted',
  ];
  for (const name of [
    'read',
    'files_read',
    'mcp_demo_files_read',
    'files-files_read',
    'mcp__files__files_read',
  ]) {
    it(`a tool is found by each of its names, and by the name of an agent: ${name}`, () => {
      assert.deepEqual(found(name), everywhere);
    });
  }

  it('a tool that only the editor refuses is offered to the others', () => {
    assert.match(
      found('files_long').join(),
      /editor: its id there would be too long.*other agents: files_long/,
    );
  });

  it('a tool of a toolset that the editor does not show is not offered there', () => {
    const problem = {
      code: 'editor-toolset-hidden',
      severity: 'warning',
      message: 'The editor shows no tool of "files".',
      fix: 'Start it.',
      place: noPlace,
      server: 'files',
      inEditor: 0,
    } as const;
    const files = status('files', { tools: [servedTool('files_read')] });
    const { tools } = explain('files_read', { ...snapshot([files]), problems: [problem] }, []);
    assert.deepEqual(tools[0]?.roads[0], {
      road: 'editor',
      offered: false,
      why: 'The editor shows no tool of "files"',
      fix: 'Start it.',
    });
  });

  it('a tool that is left out has its reason and its place on every road', () => {
    assert.deepEqual(
      found('delete'),
      ['editor', 'agent sessions', 'other agents', '@minds as ann', '@minds as bob'].map(
        (road) => `delete, ${road}: blacklist: del* /f`,
      ),
    );
    assert.match(found('files_same').join(), /same, editor: “files_same” belongs to other/);
  });

  it('a tool of the built-in toolset is found', () => {
    assert.match(found('release').join(), /release, editor: mcp_mcp_admin_release/);
  });

  it('an unknown tool names the servers that list nothing now', () => {
    assert.deepEqual(found('none'), [
      'The toolset "waiting" has no tools now: its server is stopped by a person.',
    ]);
  });
});
