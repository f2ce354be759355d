/**
 * What `login` keeps (X7e): `~/.minds/sign-ins.json`, which all processes of the person
 * follow. A key in the keyring of the system seals each sign-in. Without a keyring, only the rights
 * of the file protect it. Invariants: only a sign-in of the person adds to the file, and tokens of
 * programs stay in memory. A file that others can read is never used.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../core/base/clock.js';
import { homedir } from '../core/base/home.js';
import type { Disposable } from '../core/base/disposables.js';
import { Emitter } from '../core/base/events.js';
import { asFields } from '../core/base/isObject.js';
import { FileRefused } from '../core/base/textFile.js';
import { messageOf } from '../core/base/text.js';
import { unlessThrown } from '../core/base/unlessThrown.js';
import type { SignInStore } from '../core/connections/http/oauth/contract.js';
import { SharedFile } from '../core/files/sharedFile.js';
import { signInLock } from '../core/files/signInLock.js';
import { NoKeyring, signInKey } from './keyring.js';

interface Entry {
  readonly sealed?: unknown;
  readonly plain?: unknown;
}

type Entries = Readonly<Record<string, Entry>>;

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

export class SignInFile implements SignInStore, Disposable {
  private readonly file: SharedFile;
  private readonly changes = new Emitter<{ readonly key: string }>();
  private readonly inMemory = new Map<string, string>();
  private followed: Entries = {};
  private sealKey: Buffer | undefined;
  /** True while a person signs in. */
  private isBeginning = false;
  private failure: unknown;

  readonly onDidChange = this.changes.event;
  readonly exclusively: SignInStore['exclusively'];

  /** @param keptKey rejects with `NoKeyring` without a keyring */
  constructor(
    home = homedir(),
    private readonly keptKey = signInKey,
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

  async store(key: string, value: string): Promise<void> {
    try {
      await this.put(key, value);
      this.failure = undefined;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  private async put(key: string, value: string): Promise<void> {
    const entries = await this.entries();
    const before = entries[key];
    if (!before && !this.isBeginning) {
      this.inMemory.set(key, value);
      return;
    }
    const next = await this.entryFor(key, value, before);
    await this.change((now) => {
      // A person may have signed out since.
      const isWanted = this.isBeginning || key in now;
      return isWanted ? { ...now, [key]: next } : now;
    });
  }

  /** A renewal changes nothing about the seal. A new sign-in is sealed if there is a keyring. */
  private async entryFor(key: string, value: string, before: Entry | undefined): Promise<Entry> {
    const wasSealed = before?.sealed !== undefined;
    if (!wasSealed && !this.isBeginning) return { plain: value };
    const seal = await this.seal().catch(withoutKeyring);
    if (seal) return { sealed: sealed(seal, key, value) };
    if (this.isBeginning) return { plain: value };
    throw new Error('Its key is not in the keyring.');
  }

  async delete(key: string): Promise<void> {
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
    await this.makeSeal().catch((error: unknown) => {
      if (!(error instanceof NoKeyring)) throw error;
      const why = error.message;
      warn(
        `The keyring of the system cannot be used (${why}). The sign-in will be stored in ${this.path}, which only you can read.`,
      );
    });
    this.isBeginning = true;
    try {
      const result = await work();
      if (this.failure !== undefined)
        throw new Error(`The sign-in could not be stored: ${messageOf(this.failure)}`);
      return result;
    } finally {
      this.isBeginning = false;
    }
  }

  dispose(): void {
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
    const text = (await this.keptKey.get()) ?? '';
    const kept = Buffer.from(text, 'base64');
    if (kept.length === keyBytes) this.sealKey = kept;
    return this.sealKey;
  }

  private makeSeal(): Promise<void> {
    return this.exclusively('key', async () => {
      const known = await this.seal();
      if (known) return;
      const made = randomBytes(keyBytes);
      await this.keptKey.store(made.toString('base64'));
    });
  }
}

/** Another text is no sign-in, and the next sign-in replaces it. */
function entriesOf(text = '{}'): Entries {
  const read = asFields(unlessThrown((): unknown => JSON.parse(text)));
  const signIns = asFields(read['signIns']);
  const entries = Object.entries(signIns).map(([key, entry]) => [key, asFields(entry)] as const);
  return Object.fromEntries(entries);
}

function withoutKeyring(error: unknown): undefined {
  if (!(error instanceof NoKeyring)) throw error;
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
