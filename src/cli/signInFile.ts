/**
 * What `login` keeps (X7e): `~/.minds/sign-ins.json`, which all processes of the person
 * follow. A key in the keyring of the system seals each sign-in. Without a keyring, only the rights
 * of the file protect it. Invariants: only a sign-in of the person adds to the file, and tokens of
 * programs stay in memory. A file that others can read is never used.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { limited, systemClock } from '../core/base/clock.js';
import type { Disposable } from '../core/base/disposables.js';
import { Emitter, unlessAborted } from '../core/base/events.js';
import { asFields } from '../core/base/isObject.js';
import { FileRefused } from '../core/base/textFile.js';
import { messageOf } from '../core/base/text.js';
import { unlessThrown } from '../core/base/unlessThrown.js';
import type { SignInStore } from '../core/connections/http/oauth/contract.js';
import { SharedFile } from '../core/files/sharedFile.js';
import { signInLock } from '../core/files/signInLock.js';
import { keyBytes, NoKeyring, type AskKey } from './keyring.js';

interface Entry {
  readonly sealed?: unknown;
  readonly plain?: unknown;
}

type Entries = Readonly<Record<string, Entry>>;

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** When the person reads that the keyring waits, in milliseconds. */
const noteMs = 3_000;
/** How long the keyring may ask the person during a sign-in. */
const keyringLimitMs = 60_000;

export class SignInFile implements SignInStore, Disposable {
  private readonly file: SharedFile;
  private readonly changes = new Emitter<{ readonly key: string }>();
  private readonly inMemory = new Map<string, string>();
  private followed: Entries = {};
  private sealKey: Buffer | undefined;
  /** True while a person signs in. */
  private isBeginning = false;
  private failure: unknown;
  private asking: Promise<void> | undefined;
  private readonly ending = new AbortController();

  readonly onDidChange = this.changes.event;
  readonly exclusively: SignInStore['exclusively'];

  /** @param askKey rejects with `NoKeyring` without a keyring */
  constructor(
    home: string,
    private readonly askKey: AskKey,
  ) {
    const folder = path.join(home, '.minds');
    this.file = new SharedFile(path.join(folder, 'sign-ins.json'), systemClock, 500, 'to readers');
    this.exclusively = signInLock(path.join(folder, 'sign-ins'), systemClock);
  }

  get path(): string {
    return this.file.path;
  }

  async get(key: string): Promise<string | undefined> {
    const entries = await this.entries();
    const entry = entries[key];
    if (!entry) return this.inMemory.get(key);
    if (typeof entry.plain === 'string') return entry.plain;
    return typeof entry.sealed === 'string' ? await this.opened(key, entry.sealed) : undefined;
  }

  store(key: string, value: string): Promise<void> {
    return this.noting(() => this.put(key, value));
  }

  delete(key: string): Promise<void> {
    return this.noting(() => this.remove(key));
  }

  private async noting(write: () => Promise<void>): Promise<void> {
    try {
      await write();
      this.failure = undefined;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  private async put(key: string, value: string): Promise<void> {
    const entries = await this.entries();
    if (!entries[key] && !this.isBeginning) {
      this.inMemory.set(key, value);
      return;
    }
    await this.change((now) => {
      const before = now[key];
      // A person may have signed out since.
      if (!before && !this.isBeginning) return now;
      return { ...now, [key]: this.entryFor(key, value, before) };
    });
  }

  /** A renewal changes nothing about the seal. A new sign-in is sealed if there is a keyring. */
  private entryFor(key: string, value: string, before: Entry | undefined): Entry {
    const isPlain = this.isBeginning ? !this.sealKey : before?.sealed === undefined;
    if (isPlain) return { plain: value };
    if (!this.sealKey) throw new Error('Its key is not in the keyring.');
    return { sealed: sealed(this.sealKey, key, value) };
  }

  private async remove(key: string): Promise<void> {
    this.inMemory.delete(key);
    const entries = await this.entries();
    if (!entries[key]) return;
    await this.change(({ [key]: _, ...others }) => others);
  }

  /** Reports the changes of other processes from now on. */
  async follow(): Promise<void> {
    this.followed = await this.entries().catch(() => ({}));
    this.file.onDidChange(() => this.compare());
    await this.file.open();
  }

  private compare(): void {
    const { content } = this.file;
    if (content.kind === 'unreadable') return;
    const before = this.followed;
    const after = entriesOf(content.kind === 'text' ? content.text : undefined);
    this.followed = after;
    const keys = Object.keys({ ...before, ...after });
    for (const key of keys) {
      const isSame = isDeepStrictEqual(before[key], after[key]);
      if (!isSame) this.changes.fire({ key });
    }
  }

  /**
   * Lets what is stored during `work` begin a sign-in. @param warn takes a sentence if no keyring
   * seals it. Rejects before the work if the file cannot be used.
   */
  async beginning<T>(warn: (text: string) => void, work: () => Promise<T>): Promise<T> {
    await this.entries();
    const late = new NoKeyring('it did not answer');
    const note = systemClock.after(noteMs, () =>
      warn('The keyring of the system waits for your answer, for at most a minute.'),
    );
    const make = (over: AbortSignal): Promise<void> => unlessAborted(this.makeSeal(), over);
    await limited(systemClock, keyringLimitMs, undefined, make, late)
      .catch((error: unknown) => {
        if (!(error instanceof NoKeyring)) throw error;
        const why = error.message;
        warn(
          `The keyring of the system cannot be used (${why}). The sign-in will be stored unencrypted in ${this.path}, which only you can read.`,
        );
      })
      .finally(() => note.dispose());
    this.isBeginning = true;
    try {
      return await this.storing(work);
    } finally {
      this.isBeginning = false;
    }
  }

  /** Rejects if the file could not be changed during `work`. */
  async storing<T>(work: () => Promise<T>): Promise<T> {
    const result = await work();
    if (this.failure === undefined) return result;
    throw new Error(`The sign-ins could not be changed: ${messageOf(this.failure)}`);
  }

  dispose(): void {
    this.ending.abort();
    this.changes.dispose();
    this.file.dispose();
  }

  private async entries(): Promise<Entries> {
    const content = await this.file.read();
    if (content.kind === 'unreadable') throw new FileRefused(this.path, content.reason);
    return entriesOf(content.kind === 'text' ? content.text : undefined);
  }

  private change(edit: (entries: Entries) => Entries): Promise<void> {
    return this.file.change((text) => {
      const before = entriesOf(text);
      const after = edit(before);
      if (after === before && text !== undefined) return text;
      const json = JSON.stringify({ version: 1, signIns: after }, null, 2);
      return `${json}\n`;
    });
  }

  private async opened(key: string, text: string): Promise<string | undefined> {
    const seal = await this.seal().catch((error: unknown) => {
      if (!(error instanceof NoKeyring)) throw error;
      const why = error.message;
      throw new Error(
        `A sign-in is stored, but the keyring of the system cannot be used here (${why}).`,
        { cause: error },
      );
    });
    // A newer key opens nothing that was sealed before.
    return seal && unlessThrown(() => unsealed(seal, key, text));
  }

  /** Resolves to undefined if the keyring has no key. Rejects with `NoKeyring` without a keyring. */
  private async seal(): Promise<Buffer | undefined> {
    if (this.sealKey) return this.sealKey;
    // Two questions at once would open two windows.
    this.asking ??= this.ask(false).finally(() => {
      this.asking = undefined;
    });
    await this.asking;
    return this.sealKey;
  }

  private async makeSeal(): Promise<void> {
    const known = await this.seal();
    if (!known) await this.exclusively('key', () => this.ask(true));
  }

  private async ask(makes: boolean): Promise<void> {
    const key = await this.askKey(makes, this.ending.signal);
    const bytes = Buffer.from(key, 'base64');
    if (bytes.length === keyBytes) this.sealKey = bytes;
  }
}

/** Another text is no sign-in, and the next sign-in replaces it. */
function entriesOf(text = '{}'): Entries {
  const read = asFields(unlessThrown((): unknown => JSON.parse(text)));
  const signIns = asFields(read['signIns']);
  const entries = Object.entries(signIns).map(([key, entry]) => [key, asFields(entry)] as const);
  return Object.fromEntries(entries);
}

function sealed(seal: Buffer, key: string, value: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, seal, nonce);
  cipher.setAAD(Buffer.from(key));
  const content = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  const bytes = Buffer.concat([nonce, cipher.getAuthTag(), content]);
  return bytes.toString('base64');
}

/** Throws if the text was sealed with another key, for another sign-in, or changed. */
function unsealed(seal: Buffer, key: string, text: string): string {
  const bytes = Buffer.from(text, 'base64');
  const textAt = nonceBytes + tagBytes;
  const nonce = bytes.subarray(0, nonceBytes);
  const tag = bytes.subarray(nonceBytes, textAt);
  const content = bytes.subarray(textAt);
  const decipher = createDecipheriv(algorithm, seal, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(key));
  decipher.setAuthTag(tag);
  const opened = Buffer.concat([decipher.update(content), decipher.final()]);
  return opened.toString();
}
