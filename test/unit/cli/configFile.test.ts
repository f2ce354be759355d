/** The folder of `connect` without `-C` (G6b). */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nearestFolder } from '../../../src/cli/configFile.js';

describe('the folder of `connect`', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-home-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const folder = (...parts: string[]): string => {
    const made = path.join(home, ...parts);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const configure = (...parts: string[]): void => writeFileSync(path.join(folder(...parts, '.minds'), 'mcp.yaml'), '');

  it('The file of the home folder is not a workspace around the working directory', () => {
    configure();
    folder('.git');
    const start = folder('project', 'src');
    assert.equal(nearestFolder(start, home), start);
  });

  it('Outside a repository, a folder above does not count, because others may write it', () => {
    configure('shared');
    const start = folder('shared', 'work');
    assert.equal(nearestFolder(start, home), start);
  });

  it('The search ends at the root of the repository, and that root may have the file', () => {
    configure('outside');
    folder('outside', 'repository', '.git');
    const start = folder('outside', 'repository', 'src');
    assert.equal(nearestFolder(start, home), start);
    configure('outside', 'repository');
    assert.equal(nearestFolder(start, home), path.dirname(start));
  });
});
