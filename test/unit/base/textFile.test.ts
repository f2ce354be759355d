import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixIt } from '../../support/notHere.js';
import { readTextFile, readTextFileSync, utf8OrUtf16 } from '../../../src/core/base/textFile.js';
import { realDisk, readContent } from '../../../src/core/files/watchedFile.js';

const onPosix = posixIt('Windows has no pipes and no devices among its files');
const most = 1024 * 1024;

describe('files from others (S2a)', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'text-file-'));
    file = path.join(folder, 'file');
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function read(): Promise<string> {
    const outcome = await readTextFile(file, most).catch((error: Error) => error);
    try {
      assert.equal(readTextFileSync(file, most), outcome);
    } catch (error) {
      assert.equal((error as Error).message, (outcome as Error).message);
    }
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  it('a file is read whole, also behind a link', async () => {
    for (const text of ['', 'ä'.repeat(most / 2)]) {
      writeFileSync(file, text);
      assert.equal(await read(), text);
    }
    const own = file;
    file = path.join(folder, 'link');
    symlinkSync(own, file);
    assert.equal((await read()).length, most / 2);
  });

  it('a file is read only without loss, with its byte order mark', async () => {
    writeFileSync(file, '\ufeffgrün');
    assert.equal(await read(), '\ufeffgrün');
    for (const [bytes, encoding] of [
      [Buffer.from('grün', 'latin1'), 'perhaps in Latin-1'],
      [Buffer.from('grün', 'utf16le'), 'in UTF-16'],
      [Buffer.from('\ufeffgreen', 'utf16le'), 'in UTF-16'],
      [Buffer.from('\ufeffgrün', 'utf16le').swap16(), 'in UTF-16'],
    ] as const) {
      writeFileSync(file, bytes);
      const reason = `it is not written in UTF-8, but ${encoding}`;
      await assert.rejects(read(), { reason });
      assert.deepEqual(await readContent(realDisk, file), { kind: 'unreadable', reason });
    }
  });

  it('a file of another program may be UTF-16 in either byte order, with a byte order mark and without', async () => {
    const little = Buffer.from('{ größe }', 'utf16le');
    const big = Buffer.from('{ größe }', 'utf16le').swap16();
    const marked = (mark: number[], bytes: Buffer): Buffer =>
      Buffer.concat([Buffer.from(mark), bytes]);
    const utf8 = Buffer.from('{ größe }');
    const all = [utf8, marked([0xef, 0xbb, 0xbf], utf8)];
    for (const bytes of [
      ...all,
      little,
      marked([0xff, 0xfe], little),
      big,
      marked([0xfe, 0xff], big),
    ]) {
      writeFileSync(file, bytes);
      assert.equal(await readTextFile(file, most, utf8OrUtf16), '{ größe }');
    }
    writeFileSync(file, Buffer.from('{ größe }', 'latin1'));
    const reason = 'it is not written in UTF-8, but perhaps in Latin-1';
    await assert.rejects(readTextFile(file, most, utf8OrUtf16), { reason });
  });

  it('a missing file has the system’s error', () => assert.rejects(read(), { code: 'ENOENT' }));

  it('too large a file is refused', () => {
    writeFileSync(file, 'x'.repeat(most + 1));
    return assert.rejects(read(), { reason: 'it is larger than 1 MiB' });
  });

  it('a folder is refused as a file', () => {
    file = folder;
    return assert.rejects(
      read(),
      process.platform === 'win32' ? /EISDIR|EPERM|folder/ : { reason: 'it is a folder' },
    );
  });

  onPosix('are refused when they are devices without an end', () => {
    symlinkSync('/dev/zero', file);
    return assert.rejects(read(), { reason: 'it is not a regular file' });
  });

  onPosix('are refused when they are pipes, without waiting for a writer', () => {
    execFileSync('mkfifo', [file]);
    return assert.rejects(read(), { reason: 'it is not a regular file' });
  });
});

describe('the source', () => {
  const root = path.resolve(__dirname, '../../..');
  /**
   * These read texts of the system or our own texts, in bounded pieces, or open a file to write it.
   */
  const allowed = [
    'src/core/base/textFile.ts',
    'src/core/base/isAlive.ts',
    'src/cli/terminalQuestion.ts',
    'src/core/processes/processTable.ts',
    'src/core/processes/guardian.ts',
    'src/core/processes/program.ts',
    'src/core/processes/namedPipes.ts',
    'src/core/base/confinement.ts',
    'src/core/files/callWriter.ts',
    'src/core/files/fileLock.ts',
    'src/core/files/realFiles.ts',
    'src/core/results/diskArtifacts.ts',
    'src/vscode/minds/artifactLinks.ts',
  ];

  it('only one place reads files of others', () => {
    const reading = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => path.posix.join('src', ...name.split(path.sep)))
      .filter((name) => {
        const imports = readFileSync(path.join(root, name), 'utf8').match(
          /^import [^;]*'node:fs(?:\/promises)?';/gms,
        );
        return imports?.some((text) =>
          /\b(readFile|readFileSync|createReadStream|openSync|open|\* as)\b/.test(text),
        );
      });
    assert.deepEqual(
      reading.filter((name) => !allowed.includes(name)),
      [],
    );
  });

  it('only one place has the editor read files of others', () => {
    /** These open documents with our texts, or read files of the extension. */
    const own = [
      'tryTool/argumentDocuments.ts',
      'tryTool/panels.ts',
      'views/problems/pages.ts',
      'views/review/documents.ts',
    ];
    const folder = path.join(root, 'src', 'vscode');
    const reading = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => {
        const text = readFileSync(path.join(folder, name), 'utf8');
        return /\bopenTextDocument\(|\bfs\s*\.readFile\(|\bshowTextDocument\((uri|\w+Uri\b|vscode\.Uri)/.test(
          text,
        );
      })
      .map((name) => name.split(path.sep).join('/'));
    assert.deepEqual(reading.sort(), own);
  });
});
