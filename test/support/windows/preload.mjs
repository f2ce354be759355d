/**
 * Loaded into the Node that runs the tests under Wine. It adds two features of Windows that Wine
 * lacks.
 *
 * - Links: Wine cannot make reparse points, but follows links made by the system beneath. Wine takes such a link for
 * a folder. So the link is removed before any recursive removal, or the removal would empty the link's target. The
 * target is known from the creation of the link.
 * - `cmd.exe /c missing` exits with 1 on Windows, and with 9009 under Wine.
 */
import { ChildProcess, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const remove = fs.rmSync;
const start = path.join(process.env.SystemRoot, 'System32', 'start.exe');
/** The target of each created link, by its path in lower case. */
const links = new Map();

/** The path in the system beneath. */
function below(windowsPath) {
  const full = path.resolve(String(windowsPath));
  return (/^z:/i.test(full) ? '' : '/prefix/wine/drive_c') + full.slice(2).replaceAll('\\', '/');
}

let runs = 0;

/**
 * Runs a line in a shell of the system beneath. `start /unix` does not wait, so the line reports
 * its own end.
 */
function run(line, ...args) {
  const done = path.join(os.tmpdir(), `beneath-${process.pid}-${++runs}`);
  spawnSync(start, ['/unix', '/bin/sh', '-c', `${line}; echo $? >"$0"`, below(done), ...args], {
    stdio: 'ignore',
  });
  const limit = Date.now() + 30_000;
  let code = '';
  while (!code.endsWith('\n') && Date.now() < limit) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    code = readFile(done);
  }
  remove(done, { force: true });
  if (code !== '0\n')
    throw Object.assign(new Error(`ENOTSUP: ${line} ${args.join(' ')}: ${code}`), {
      code: 'ENOTSUP',
    });
}

function readFile(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

fs.symlinkSync = (target, at) => {
  const to = path.isAbsolute(String(target)) ? below(target) : String(target).replaceAll('\\', '/');
  run('ln -s -- "$1" "$2"', to, below(at));
  links.set(path.resolve(String(at)).toLowerCase(), String(target));
};
fs.promises.symlink = async (...args) => fs.symlinkSync(...args);

const readLink = fs.readlinkSync;
fs.readlinkSync = (at, ...rest) =>
  links.get(path.resolve(String(at)).toLowerCase()) ?? readLink(at, ...rest);

/** Returns true if `at` itself was a link. Another file may have replaced it. */
function cut(at) {
  const top = path.resolve(String(at)).toLowerCase();
  let itself = false;
  for (const link of links.keys()) {
    if (link !== top && !link.startsWith(`${top}\\`)) continue;
    run('find "$1" -ipath "$2" -type l -delete', below(path.dirname(String(at))), below(link));
    links.delete(link);
    itself ||= link === top && !fs.existsSync(at);
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
