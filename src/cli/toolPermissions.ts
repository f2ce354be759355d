/**
 * The person's permissions for calls (S4): `~/.minds/permissions.json` and options. The option wins for the same pattern. An
 * agent starts `connect`, so its options can only tighten.
 */
import { withoutMark } from '../core/base/byteOrderMark.js';
import path from 'node:path';
import { systemClock } from '../core/base/clock.js';
import type { DisposableStore } from '../core/base/disposables.js';
import { FileRefused } from '../core/base/textFile.js';
import { refuseForeign } from '../core/files/sharedFile.js';
import { realDisk, watchFile, type Disk } from '../core/files/watchedFile.js';
import type { Host } from '../core/host/hostContract.js';
import { toolPermissions, type ToolPermission } from '../core/tools/permissions.js';
import { textIfThere } from './configFile.js';
import { readObject } from './options.js';
import { complain } from './output.js';

type Rules = Readonly<Record<string, unknown>>;

type PermissionOptions = Readonly<Partial<Record<ToolPermission, readonly string[] | undefined>>>;

const disk: Disk = {
  ...realDisk,
  read: async (file) => {
    refuseForeign(file);
    return await realDisk.read(file);
  },
};

export class PersonsPermissions {
  private constructor(
    private readonly file: string,
    private readonly options: PermissionOptions,
    private own: Rules,
    private readonly tightens: boolean,
  ) {}

  static readonly none = new PersonsPermissions('', {}, {}, false);

  /** Returns a sentence that says why the file is not usable. Then no tool may be called. */
  static read(home: string, options: PermissionOptions, tightens: boolean): PersonsPermissions | string {
    const file = path.join(home, '.minds', 'permissions.json');
    try {
      refuseForeign(file);
      const own = rulesOf(file, textIfThere(file));
      return typeof own === 'string' ? own : new PersonsPermissions(file, options, own, tightens);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // Without a home folder, there is no file.
      if (code === 'ENOTDIR') return new PersonsPermissions(file, options, {}, tightens);
      return error instanceof FileRefused ? message : `${file} cannot be read: ${message}`;
    }
  }

  get hasOptions(): boolean {
    return toolPermissions.some((permission) => this.options[permission] !== undefined);
  }

  /** The strictest of all lists counts. */
  get rules(): readonly Rules[] {
    const given = toolPermissions.flatMap((permission) =>
      (this.options[permission] ?? []).map((pattern) => [pattern, permission]),
    );
    const rules = Object.fromEntries(given) as Rules;
    return this.tightens ? [this.own, rules] : [{ ...this.own, ...rules }];
  }

  /** Makes edits of the file count at once. An invalid file changes nothing and causes a message. */
  follow({ permission }: Pick<Host, 'permission'>, store: DisposableStore): void {
    const watched = store.add(watchFile(this.file, { clock: systemClock, pollMs: 500, disk }));
    store.add(
      watched.onDidChange((content) => {
        const own =
          content.kind === 'unreadable'
            ? `${this.file} cannot be read: ${content.reason}`
            : rulesOf(this.file, content.kind === 'text' ? content.text : undefined);
        if (typeof own === 'string') {
          complain(`${own.replace(/\.$/, '')}. The permissions stay as they were.`);
          return;
        }
        if (JSON.stringify(own) === JSON.stringify(this.own)) return;
        this.own = own;
        permission.recheck();
      }),
    );
  }
}

function rulesOf(file: string, text: string | undefined): Rules | string {
  return text === undefined
    ? {}
    : readObject(`The permissions in ${file}`, withoutMark(text), '{"*":"ask","docs_*":"allow"}');
}
