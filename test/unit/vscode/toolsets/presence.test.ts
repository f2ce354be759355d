import assert from 'node:assert/strict';
import { toolsForEditor } from '../../../../src/core/tools/catalogue.js';
import {
  absenceProblem,
  presenceOf,
  type Absence,
} from '../../../../src/vscode/toolsets/presence.js';
import { problem, toolset } from '../views/statuses.js';

const demo = toolset('demo', 'a', 'b');

describe('presence of a toolset in the editor', () => {
  const look = (...names: string[]): string => presenceOf(demo, new Set(names)).kind;

  it('is shown if the editor has every id, with or without others', () => {
    assert.equal(look('mcp_demo_a', 'x', 'mcp_demo_b'), 'shown');
  });

  it('is hidden if the editor has none of its ids', () => {
    assert.equal(look('mcp_other_a', 'a'), 'hidden');
    assert.equal(look(), 'hidden');
  });

  it('names the missing tools if the editor has some of its ids', () => {
    assert.deepEqual(presenceOf(demo, new Set(['mcp_demo_a'])), { kind: 'partly', missing: ['b'] });
  });

  it('recognises the other prefix that the editor gives if a name is taken', () => {
    assert.deepEqual(presenceOf(demo, new Set(['mcp_demo2_a', 'mcp_demo2_b'])), {
      kind: 'renamed',
      prefix: 'mcp_demo2_',
    });
    assert.equal(look('mcp_demo3_a', 'mcp_demo3_b'), 'renamed');
    assert.equal(look('mcp_demo2_a'), 'hidden');
  });

  it('recognises a prefix in which a number replaces the last character of a long name', () => {
    const long = toolset('averyveryvery', 'a');
    assert.deepEqual(presenceOf(long, new Set(['mcp_averyveryver2_a'])), {
      kind: 'renamed',
      prefix: 'mcp_averyveryver2_',
    });
  });
});

describe('problem of an absent toolset', () => {
  const { place } = problem();
  const about = (absence: Partial<Absence>): ReturnType<typeof absenceProblem> =>
    absenceProblem(
      demo,
      {
        presence: { kind: 'hidden' },
        connected: true,
        switchedOff: undefined,
        rivals: [],
        ...absence,
      },
      place,
    );

  it('is at the key of the server', () => {
    const { code, server, place: at, severity } = about({});
    assert.deepEqual(
      [code, server, at, severity],
      ['editor-toolset-hidden', 'demo', place, 'warning'],
    );
  });

  it('says how many tools the editor shows', () => {
    assert.equal(about({}).inEditor, 0);
    const missing = toolsForEditor(demo).slice(1);
    const partly = { kind: 'partly', missing: missing.map(({ published }) => published) } as const;
    assert.equal(about({ presence: partly }).inEditor, 1);
    assert.equal(
      about({ presence: { kind: 'renamed', prefix: 'mcp_demo2_' } }).inEditor,
      undefined,
    );
  });

  it('names the file that configures the same name, and links to it', () => {
    const rival = { label: 'Demo', file: '.vscode/mcp.json', place, isOurs: false };
    const { message, fix, related } = about({ rivals: [rival] });
    assert.match(message, /\.vscode\/mcp\.json also configures an MCP server "Demo"/);
    assert.match(fix, /collisionBehavior/);
    assert.deepEqual(
      related?.map((entry) => entry.place),
      [place],
    );
  });

  it('says that an entry of ours has to run, and does not offer to remove it', () => {
    const rival = { label: 'demo', file: '.mcp.json', place, isOurs: true };
    const { message, fix, related } = about({ rivals: [rival] });
    assert.match(message, /from the entry "demo" of \.mcp\.json, and this entry does not run yet/);
    assert.match(fix, /start it/);
    assert.equal(related, undefined);
  });

  it('gives the likely causes if no file configures the same name', () => {
    assert.match(about({}).message, /user mcp\.json/);
    assert.match(about({ connected: false }).message, /has not connected/);
    assert.match(
      about({ switchedOff: '"chat.mcp.access" is "none"' }).message,
      /"chat\.mcp\.access" is "none"/,
    );
    assert.match(about({ presence: { kind: 'partly', missing: ['b'] } }).message, /"b" of "demo"/);
    assert.match(
      about({ presence: { kind: 'renamed', prefix: 'mcp_demo2_' } }).message,
      /mcp_demo2_… instead of mcp_demo_/,
    );
  });
});
