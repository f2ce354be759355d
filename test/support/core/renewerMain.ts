/**
 * A process that uses the sign-in of a person for one server, like a command or an engine. For each
 * line on stdin, it sends one request and prints its outcome.
 *
 *   node renewerMain.js URL HOME NAME
 */
import { createInterface } from 'node:readline';
import { systemClock } from '../../../src/core/base/clock.js';
import { literal } from '../../../src/core/config/model.js';
import { OAuth } from '../../../src/core/connections/http/oauth/oauth.js';
import { NoKeyring } from '../../../src/cli/keyring.js';
import { SignInFile } from '../../../src/cli/signInFile.js';

const [url = '', home = '', name = ''] = process.argv.slice(2);
const noKey = () => Promise.reject(new NoKeyring('in a test'));
const oauth = new OAuth({
  secrets: new SignInFile(home, noKey),
  clock: systemClock,
  log: { write: () => {} },
  keepSecret: () => ({ dispose: () => {} }),
  clientVersion: name,
});

const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'whoami' },
});

async function outcome(): Promise<string> {
  const access = oauth.accessFor({
    transport: 'streamable_http',
    url: literal(url),
    headers: new Map(),
    sessionId: '',
  });
  for (let again = false; ; again = true) {
    const used = await access?.token();
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${used}` };
    const reply = await fetch(url, { method: 'POST', headers, body });
    await reply.text();
    if (reply.status !== 401) return `HTTP ${reply.status}`;
    const header = reply.headers.get('www-authenticate') ?? undefined;
    const verdict = await access?.refused({ status: 401, header }, used, again);
    if (verdict?.kind !== 'renewed') return JSON.stringify(verdict);
  }
}

const lines = createInterface(process.stdin);
lines.on('line', () => {
  void outcome().then(
    (text) => process.stdout.write(`${text}\n`),
    (error: unknown) => process.stdout.write(`${String(error)}\n`),
  );
});
lines.on('close', () => process.exit());
process.stdout.write('ready\n');
