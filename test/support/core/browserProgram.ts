/** A browser for `login`, as the program that opens addresses on Linux. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CommandLine } from './commandLine.js';

/** It follows redirects and keeps cookies, and never shows what it was given. */
const browserScript = `#!${process.execPath}
const cookies = new Map();
(async () => {
  let target = process.argv[2];
  for (let hops = 0; hops < 20; hops++) {
    const cookie = [...cookies].map(([name, value]) => name + '=' + value).join('; ');
    const reply = await fetch(target, { redirect: 'manual', headers: { cookie } });
    for (const line of reply.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      cookies.set(name, value);
    }
    await reply.text();
    const location = reply.headers.get('location');
    if (location === null) return;
    target = new URL(location, target).href;
  }
})().finally(() => process.exit());
`;

export function giveBrowser({ folder, env }: CommandLine): void {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'xdg-open'), browserScript, { mode: 0o755 });
  Object.assign(env, {
    PATH: `${bin}${path.delimiter}${env['PATH']}`,
    DISPLAY: ':test',
    SSH_CONNECTION: undefined,
  });
}
