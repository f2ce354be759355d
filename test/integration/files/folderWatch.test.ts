/** The system's watch of the folder of a file (R1). */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Disposable } from '../../../src/core/base/disposables.js';
import { watchFolderOf } from '../../../src/core/files/folderWatch.js';
import { within } from '../../support/core/within.js';
import { posixIt } from '../../support/notHere.js';

describe('the watch of a folder', () => {
  let root: string;
  let file: string;
  let seen: () => void;
  let watched: Disposable;

  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-watch-')));
    file = path.join(root, 'project', '.minds', 'mcp.yaml');
    watched = watchFolderOf(file, () => seen());
  });

  afterEach(() => {
    watched.dispose();
    rmSync(root, { recursive: true, force: true });
  });

  async function sees(what: string, change: () => void): Promise<void> {
    const event = new Promise<void>((resolve) => (seen = resolve));
    change();
    await within(event, what);
  }

  const onPosix = posixIt('Wine reports no events of folders');
  onPosix('sees each step to the file, its replacement, and its folder made again', async () => {
    await sees('the project', () => mkdirSync(path.dirname(path.dirname(file))));
    await sees('the folder', () => mkdirSync(path.dirname(file)));
    await sees('the file', () => writeFileSync(file, 'a'));
    await sees('a change', () => writeFileSync(file, 'b'));
    writeFileSync(path.join(root, 'new'), 'c');
    await sees('a replacement', () => renameSync(path.join(root, 'new'), file));
    await sees('the end of the folder', () => rmSync(path.dirname(file), { recursive: true }));
    await sees('the folder again', () => mkdirSync(path.dirname(file)));
    await sees('the file again', () => writeFileSync(file, 'd'));
  });
});
