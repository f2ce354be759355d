/**
 * Lets a run execute functions in the extension host of its editor. It asks the bridge for work, runs it, and sends
 * the answer. Does nothing without a bridge in the environment. One request is always open and shows the run that
 * this host is alive.
 */
import http from 'node:http';
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';

const hostId = randomUUID();
const bridge = process.env.MCP_TOOLSETS_TEST_BRIDGE;
const ended = new AbortController();

export function activate() {
  if (bridge) void askForWork();
}

export function deactivate() {
  ended.abort();
}

async function askForWork() {
  const target =
    (vscode.workspace.workspaceFile ?? vscode.workspace.workspaceFolders?.[0]?.uri)?.fsPath ?? '';
  while (!ended.signal.aborted) {
    try {
      const work = await post('host/work', { hostId, pid: process.pid, target });
      if (work) void perform(work);
    } catch (error) {
      if (!ended.signal.aborted) console.error('remote-control: the bridge is gone', error);
      return;
    }
  }
}

async function perform({ id, source, argument }) {
  try {
    // A transpiler may have left calls of this function in the source.
    const __name = (target) => target;
    const work = new Function('__name', `return (${source})`)(__name);
    await post('host/answer', { hostId, id, value: (await work(vscode, argument)) ?? null });
  } catch (error) {
    await post('host/answer', { hostId, id, error: String(error?.stack ?? error) }).catch(() => {});
  }
}

function post(path, message) {
  return new Promise((done, failed) => {
    const request = http.request(
      `${bridge}/${path}`,
      { method: 'POST', signal: ended.signal },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => (body += chunk));
        response.on('error', failed);
        response.on('end', () =>
          response.statusCode === 200 ? done(JSON.parse(body)) : failed(new Error(body)),
        );
      },
    );
    request.on('error', failed);
    request.end(JSON.stringify(message));
  });
}
