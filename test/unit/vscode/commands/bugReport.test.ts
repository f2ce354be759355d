import assert from 'node:assert/strict';
import { Redactor } from '../../../../src/core/base/log.js';
import { bugReport, type BugReportFacts } from '../../../../src/vscode/commands/bugReport.js';
import { file, problem, servedTool, snapshot, status } from '../views/statuses.js';

const canary = 'canary-5ca1ab1e';

function report(changes: Partial<BugReportFacts> = {}): string {
  return bugReport({
    versions: [['MCP Toolsets', '0.1.0']],
    settings: [['mcpToolsets.trace', true]],
    phase: 'serving',
    sources: [{ file, text: 'version: 1\nservers: {}\n' }],
    snapshot: snapshot([]),
    logs: [],
    redact: (text) => text,
    home: '/home/ann',
    fileLabel: (path) => path.replace('/folder/', ''),
    ...changes,
  });
}

describe('bugReport: diagnostics without secrets (E4)', () => {
  it('a bug report has versions, settings, servers, problems and the last lines of the logs', () => {
    const text = report({
      snapshot: snapshot(
        [
          status('a', {
            tools: [servedTool('x')],
            offered: 2,
            serverInfo: { name: 'plain', version: '1.0.0' },
          }),
          status('b', {
            state: { kind: 'failed', since: 0, reason: 'exit\n1', fix: '' },
            transport: undefined,
          }),
        ],
        { problems: [problem()] },
      ),
      logs: [
        { name: 'MCP Toolsets: a', lines: ['2026-01-01 [info] started'] },
        { name: 'MCP Toolsets: b', lines: [] },
      ],
    });
    for (const line of [
      '- MCP Toolsets: 0.1.0',
      '- mcpToolsets.trace: true',
      '## `.minds/mcp.yaml`',
      '- a: running · stdio · 1 of 2 tools · 0 instances · plain 1.0.0',
      '- b: failed · exit 1 · 0 tools · 0 instances',
      '- error `env-unset` .minds/mcp.yaml:4: The variable is not set.',
      '## Log: MCP Toolsets: a',
      '2026-01-01 [info] started',
    ]) {
      assert.ok(text.split('\n').includes(line), `${line} in ${text}`);
    }
    assert.doesNotMatch(text, /Log: MCP Toolsets: b/);
  });

  it('a bug report has no secret, wherever it was', () => {
    const redactor = new Redactor();
    redactor.register([canary]);
    const text = report({
      settings: [['mcpToolsets.x', canary]],
      sources: [{ file, text: `servers: { a: { env: { T: other-${canary} } } } # ${canary}` }],
      snapshot: snapshot(
        [status('a', { state: { kind: 'failed', since: 0, reason: canary, fix: '' } })],
        {
          problems: [problem({ message: canary })],
        },
      ),
      logs: [{ name: 'a', lines: [canary, 'Authorization: Bearer abcdef123456'] }],
      redact: (all) => redactor.redact(all),
    });
    assert.doesNotMatch(text, /canary|abcdef123456/);
  });

  it('a bug report keeps a log inside its fence', () => {
    const redactor = new Redactor();
    const forged = ['-----END PRIVATE KEY-----', '`````', '# Sign in again'];
    const text = report({
      logs: [
        { name: 'a', lines: ['-----BEGIN PRIVATE KEY-----'] },
        { name: 'b', lines: forged },
      ],
      redact: (all) => redactor.redact(all),
    });
    assert.ok(
      text.endsWith(`## Log: b\n\n\`\`\`\`\`\`\n${forged.join('\n')}\n\`\`\`\`\`\`\n`),
      text,
    );
  });

  it('a bug report does not name the person', () => {
    assert.doesNotMatch(report({ logs: [{ name: 'a', lines: ['/home/ann/project'] }] }), /ann/);
  });

  it('a bug report says if a file cannot be read', () => {
    assert.match(
      report({ sources: [{ file, text: 'servers: [' }] }),
      /not readable as YAML; 1 lines/,
    );
    assert.match(report({ sources: [{ file, text: undefined }] }), /no such file/);
  });
});
