/** The hover of the status bar. */
import assert from 'node:assert/strict';
import { statusPanel } from '../../../../src/vscode/views/statusPanel.js';
import { callFact } from '../../calls/facts.js';
import { problem, servedTool, snapshot, status } from './statuses.js';

describe('the panel of the status bar', () => {
  const panel = (...given: Parameters<typeof statusPanel>): string => statusPanel(...given).value;
  const running = status('a', { tools: [servedTool('x')], offered: 2 });
  const launch = { server: 'b', source: '/f', parts: [], fingerprint: 'f' };
  const pending = status('b', {
    state: { kind: 'pending' },
    approval: { kind: 'pending', launch },
  });

  it('has each server with its state, its tools, its log and its restart', () => {
    const text = panel(snapshot([running]), undefined, 0);
    assert.match(
      text,
      /\| \*\*a\*\* \| running \| 1 of 2 tools \| \[Restart\]\(command:mcpToolsets\.restart\?%5b%22%61%22%5d\) · \[Show Log\]\(command:mcpToolsets\.showServerLog\?%5b%22%61%22%5d\) \|/,
    );
    assert.match(text, /^1 tool, \\~\d+ tokens in each request/);
    assert.match(text, /\[Manage Server…\]\(command:mcpToolsets\.manageServer\?%5b%5d\)/);
  });

  it('says what waits, and leads to the review', () => {
    const changedOffers = [
      { launch: '', kind: 'tool', original: 'x', parts: ['new'], held: true },
    ] as const;
    const text = panel(snapshot([pending, status('c', { changedOffers })]), undefined, 0);
    assert.match(
      text,
      /1 server waits for approval: \[Review…\]\(command:mcpToolsets\.reviewPending\?%5b%5d\)/,
    );
    assert.match(
      text,
      /1 server has changed tools: \[Review…\]\(command:mcpToolsets\.acceptTools\?%5b%5d\)/,
    );
    assert.doesNotMatch(panel(snapshot([running]), undefined, 0), /waits|Review/);
  });

  it('names the last call with its outcome', () => {
    const call = callFact({ took: 1_234 });
    assert.match(
      panel(snapshot([running]), call, 2_000),
      /Last call: `files_read` of files by Claude Code, ok, 1\\\.2 s, /,
    );
    assert.doesNotMatch(panel(snapshot([running]), undefined, 0), /Last call/);
  });

  it('no text of a server, an agent or a file becomes a link, an icon or a row', () => {
    const foreign = 'x](command:evil) $(zap) | y\n| z <a href="command:evil">';
    const failed = status(foreign, {
      state: { kind: 'failed', since: 0, reason: foreign, fix: foreign },
    });
    const withCode = panel(
      snapshot([failed], { problems: [problem({ server: foreign, message: foreign })] }),
      callFact({ tool: foreign, agent: foreign, toolset: foreign }),
      0,
    );
    const text = withCode.replace(/`[^`]*`/g, '');
    const links = [...text.matchAll(/(?<!\\)\]\((?<target>[^)]*)\)/g)].map(
      ({ groups }) => groups?.['target'] ?? '',
    );
    assert.ok(links.length >= 3);
    for (const link of links) assert.match(link, /^command:mcpToolsets\.\w+(\?[\w%]*)?$/);
    assert.doesNotMatch(text, /(?<!\\)\$\(zap/);
    assert.equal(text.split('\n').filter((line) => line.startsWith('|')).length, 3);
  });
});
