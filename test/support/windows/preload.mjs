/**
 * Loaded into the Node that runs the tests under Wine; makes up for two things that Windows does and Wine does not.
 *
 * - Links: Wine cannot make reparse points, but follows links that the system beneath it has made. To Wine such a link
 *   is a folder, so it is removed before anything is removed recursively, or what it leads to would be emptied. Where it
 *   leads to is known from its making.
 * - `cmd.exe /c missing` exits with 1 on Windows, with 9009 under Wine.
 */
import { ChildProcess, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

const start = path.join(process.env.SystemRoot, 'System32', 'start.exe');
/** What each link that was made leads to, by its path in lower case. */
const links = new Map();

/** The path of the system beneath. */
function below(windowsPath) {
  const full = path.resolve(String(windowsPath));
  return (/^z:/i.test(full) ? '' : '/prefix/wine/drive_c') + full.slice(2).replaceAll('\\', '/');
}

/** `start /unix` does not wait. */
function run(program, args, until) {
  spawnSync(start, ['/wait', '/unix', program, ...args], { stdio: 'ignore' });
  const limit = Date.now() + 5000;
  while (!until() && Date.now() < limit) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  if (!until()) throw Object.assign(new Error(`ENOTSUP: ${program} ${args.join(' ')}`), { code: 'ENOTSUP' });
}

function linked(at) {
  try {
    fs.lstatSync(at);
    return true;
  } catch {
    return false;
  }
}

fs.symlinkSync = (target, at) => {
  const to = path.isAbsolute(String(target)) ? below(target) : String(target).replaceAll('\\', '/');
  const dangling = !fs.existsSync(path.resolve(path.dirname(String(at)), String(target)));
  run('/usr/bin/ln', ['-s', '--', to, below(at)], () => dangling || linked(at));
  links.set(path.resolve(String(at)).toLowerCase(), String(target));
};
fs.promises.symlink = async (...args) => fs.symlinkSync(...args);

const readLink = fs.readlinkSync;
fs.readlinkSync = (at, ...rest) => links.get(path.resolve(String(at)).toLowerCase()) ?? readLink(at, ...rest);

/** Whether `at` itself was a link. */
function cut(at) {
  const top = path.resolve(String(at)).toLowerCase();
  let itself = false;
  for (const link of links.keys()) {
    if (link !== top && !link.startsWith(`${top}\\`)) continue;
    const inside = ['-c', 'find "$0" -ipath "$1" -type l -delete', below(path.dirname(String(at))), below(link)];
    run('/bin/sh', inside, () => !linked(link));
    links.delete(link);
    itself ||= link === top;
  }
  return itself;
}

for (const host of [fs, fs.promises]) {
  for (const name of ['rm', 'rmSync', 'unlink', 'unlinkSync']) {
    const real = host[name];
    if (!real) continue;
    host[name] = (at, ...rest) => {
      if (!cut(at)) return real.call(host, at, ...rest);
      return host === fs.promises ? Promise.resolve() : undefined;
    };
  }
}

const realSpawn = ChildProcess.prototype.spawn;
ChildProcess.prototype.spawn = function (options) {
  if (/cmd\.exe$/i.test(options.file ?? '')) {
    const handle = this._handle;
    const onExit = handle.onexit;
    handle.onexit = (code, signal) => onExit.call(handle, code === 9009 ? 1 : code, signal);
  }
  return realSpawn.call(this, options);
};

syncBuiltinESMExports();
