/**
 * The programs that the package needs on Windows, for each processor: an install brings that of its
 * own system alone, so they are fetched as the lock file has them.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** The editor's names of its Windows, and the package for each. */
export const windowsTargets = {
  'win32-x64': '@koromix/koffi-win32-x64',
  'win32-arm64': '@koromix/koffi-win32-arm64',
};
/** What `require` of the package loads. */
const isNeeded = (path) => /^package\/(package\.json|index\.js|LICENSE.*|.*\.node)$/.test(path);

/**
 * @param {string} root the repository
 * @returns {Promise<{ path: string, contents: Buffer }[]>} with paths below `node_modules`
 */
export async function windowsBinaries(root) {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const folder = await mkdtemp(join(tmpdir(), 'mcp-toolsets-native-'));
  try {
    const files = [];
    for (const name of Object.values(windowsTargets)) {
      const { version, integrity } = packages[`node_modules/${name}`];
      const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
      const pack = ['pack', '--json', '--pack-destination', folder, `${name}@${version}`];
      const { stdout } = await run(npm, pack, { cwd: root, shell: process.platform === 'win32' });
      const archive = join(folder, JSON.parse(stdout)[0].filename);
      const digest = createHash('sha512')
        .update(await readFile(archive))
        .digest('base64');
      if (integrity !== `sha512-${digest}`)
        throw new Error(`${name}@${version} is not what package-lock.json has`);
      const { stdout: listing } = await run('tar', ['-tzf', archive]);
      for (const path of listing.split(/\r?\n/).filter(isNeeded)) {
        const options = { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 };
        const { stdout: contents } = await run('tar', ['-xzOf', archive, path], options);
        files.push({ path: `${name}/${path.replace('package/', '')}`, contents });
      }
    }
    return files;
  } finally {
    await rm(folder, { recursive: true });
  }
}
