import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isBelow, realPath, samePath } from '../../../src/core/base/paths.js';
import { isUserFile, sourceFiles, userFile } from '../../../src/core/config/sources.js';
import { tokenFileOf } from '../../../src/core/files/tokenFile.js';

describe('paths', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'paths-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('two paths to one place are equal, by links and for missing files', () => {
    const [real, link] = [path.join(folder, 'real'), path.join(folder, 'link')];
    mkdirSync(real);
    symlinkSync(real, link, 'junction');
    assert.equal(realPath(path.join(link, 'not', 'yet')), realPath(path.join(real, 'not', 'yet')));
    assert(samePath(path.join(link, 'file'), path.join(real, 'file')));
    assert(!samePath(path.join(link, 'file'), path.join(real, 'other')));
    assert(isBelow(path.join(link, 'a', 'b'), real));
    assert(isBelow(path.join(real, '..a'), link));
    assert(!isBelow(real, link));
    assert(!isBelow(folder, real));
    assert(!isBelow(`${real}-beside`, real));
  });

  it('a link to a missing target is followed, and the rest of the path stays', () => {
    const link = path.join(folder, 'link');
    symlinkSync(path.join(folder, 'missing'), link, 'junction');
    assert.equal(
      realPath(path.join(link, 'a', 'b')),
      path.join(realPath(folder), 'missing', 'a', 'b'),
    );
    symlinkSync(path.join(folder, 'loop'), path.join(folder, 'loop'), 'junction');
    assert.equal(
      realPath(path.join(folder, 'loop', 'a')),
      path.join(realPath(folder), 'loop', 'a'),
    );
  });

  /** As the editor writes a folder, and as the system does. */
  const spellings = (): [editor: string, system: string] => {
    const system = realPath(folder);
    return process.platform === 'win32'
      ? [system.replace(/^[A-Z]/, (drive) => drive.toLowerCase()), system]
      : [path.join(system, '.'), system];
  };

  it('a home folder as workspace has one file, and it counts as the workspace’s', () => {
    const [editor, system] = spellings();
    const files = sourceFiles([editor], system);
    assert.deepEqual(
      files.map(({ origin }) => origin),
      ['folder', 'mcprc', 'local'],
    );
    assert(!isUserFile(userFile(editor), [editor], system));
  });

  it('the user’s own file is recognised in every spelling', () => {
    const [editor, system] = spellings();
    assert(isUserFile(userFile(editor), [], system));
    assert(isUserFile(userFile(system), ['elsewhere'], editor));
  });

  it('editor and command line make the same path of a token file', () => {
    const [editor, system] = spellings();
    assert.equal(tokenFileOf(realPath(editor), system), tokenFileOf(realPath(system), system));
  });
});
