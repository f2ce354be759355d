/**
 * The person's permissions for calls (S4): `~/.minds/permissions.json` and options. The option wins
 * for the same pattern. An agent starts `connect`, so its options can only tighten.
 */
import { withoutMark } from '../core/base/byteOrderMark.js';
import path from 'node:path';
import { systemClock } from '../core/base/clock.js';
import type { DisposableStore } from '../core/base/disposables.js';
import type { FileContent } from '../core/base/textFile.js';
import { refuseForeign } from '../core/files/sharedFile.js';
import { readContent, realDisk, watchFile, type Disk } from '../core/files/watchedFile.js';
import type { Host } from '../core/calling/hostContract.js';
import { toolPermissions, unreadRule, type ToolPermission } from '../core/tools/permissions.js';
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

  /** Resolves to a sentence that says why the file is not usable. Then no tool may be called. */
  static async read(
    home: string,
    options: PermissionOptions,
    tightens: boolean,
  ): Promise<PersonsPermissions | string> {
    const file = path.join(home, '.minds', 'permissions.json');
    const content = await readContent(disk, file);
    const own = rulesOf(file, content);
    if (typeof own === 'string') return own;
    complainOfUnread(file, content, own);
    for (const permission of toolPermissions)
      for (const pattern of options[permission] ?? [])
        complainOf(`--${permission}`, unreadRule(pattern, permission));
    return new PersonsPermissions(file, options, own, tightens);
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

  /**
   * Makes edits of the file count at once. An invalid file changes nothing and causes a message.
   */
  follow({ permission }: Pick<Host, 'permission'>, store: DisposableStore): void {
    const watched = store.add(
      watchFile(this.file, {
        clock: systemClock,
        pollMs: 500,
        disk,
      }),
    );
    store.add(
      watched.onDidChange((content) => {
        const own = rulesOf(this.file, content);
        if (typeof own === 'string') {
          complain(`${own.replace(/\.$/, '')}. The permissions stay as they were.`);
          return;
        }
        if (JSON.stringify(own) === JSON.stringify(this.own)) return;
        this.own = own;
        complainOfUnread(this.file, content, own);
        permission.recheck();
      }),
    );
  }
}

function rulesOf(file: string, content: FileContent): Rules | string {
  if (content.kind === 'absent') return {};
  if (content.kind === 'unreadable') return `${file} cannot be read: ${content.reason}.`;
  return readObject(
    `The permissions in ${file}`,
    withoutMark(content.text),
    '{"*":"ask","docs_*":"allow"}',
  );
}

function complainOfUnread(file: string, content: FileContent, rules: Rules): void {
  const text = content.kind === 'text' ? content.text : '';
  for (const [key, value] of Object.entries(rules)) {
    const lines = text.slice(0, text.indexOf(JSON.stringify(key))).split('\n');
    complainOf(`${file}:${lines.length}`, unreadRule(key, value));
  }
}

function complainOf(place: string, problem: string | undefined): void {
  if (problem !== undefined) complain(`${place}: ${problem}`);
}
