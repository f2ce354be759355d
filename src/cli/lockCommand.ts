/** `mcp-toolsets lock`: shows what the lock file of the folder would hold, and writes it (S3d). */
import { homedir } from '../core/base/home.js';
import { realPath } from '../core/base/paths.js';
import { lockPath } from '../core/config/sources.js';
import { lockFileOf } from '../core/files/lockFile.js';
import { writeInside } from '../core/files/realFiles.js';
import { lockIn } from '../core/lock/folderLocks.js';
import { isLocked, planLock, type LockPlan } from '../core/lock/lockPlan.js';
import type { ServerStatus } from '../core/reconcile/status.js';
import { readConfig, readConfigFiles } from './configFile.js';
import type { Options, Words } from './options.js';
import { complain, print, reasonOf, toJson } from './output.js';
import { withServers, type Run } from './withEngine.js';

/** Colleagues read the lock, so it never depends on the layer of this person (C7). */
export async function lock(run: Run, names: Words, { write }: Options): Promise<number> {
  const shared = { ...run, withoutLocal: true, looks: true };
  const files = readConfigFiles(shared);
  const { servers } = readConfig(shared, files);
  const ours = servers.filter(({ origin }) => isLocked(origin));
  const wrong = names.filter((name) => !ours.some(({ id }) => id === name));
  for (const name of wrong) complain(`No config file of this folder has a server "${name}".`);
  if (wrong.length > 0) return 1;
  const content = files.sources.flatMap((source) => source.lock ?? [])[0] ?? { kind: 'absent' };
  const before = lockIn(content);
  // Only a text without a part for others may be replaced.
  if (typeof before === 'string' && (names.length > 0 || content.kind === 'unreadable'))
    return complain(`${lockPath} cannot be read: ${before}. Delete it, then lock all servers.`);
  let listed: readonly ServerStatus[] = [];
  // A command starts only the servers that it needs.
  for (const only of names.length > 0 ? names : [undefined]) {
    const code = await withServers({ ...shared, only }, ({ host: { snapshot } }) => {
      listed = [...listed, ...snapshot.servers];
      return 0;
    });
    if (code !== 0) return code;
  }
  const plan = planLock(listed, typeof before === 'string' ? new Map() : before, names);
  for (const line of machineLines(run, listed)) complain(line);
  return show(run, plan, content.kind === 'text' ? content.text : '', write);
}

/** A digest shows no path, so nobody would see why it differs elsewhere. Nothing is guessed. */
function machineLines({ folder }: Run, listed: readonly ServerStatus[]): string[] {
  const paths = [realPath(folder), realPath(homedir())];
  return listed.flatMap(({ id, toLock }) =>
    [...(toLock()?.offers.values() ?? [])]
      .filter((one) => one.text().some(([, text]) => paths.some((path) => text.includes(path))))
      .map(
        ({ kind, original }) =>
          `${id}: the text of ${kind} "${original}" has a path of this machine, so it differs for others.`,
      ),
  );
}

function show({ folder, json }: Run, plan: LockPlan, before: string, write: boolean): number {
  const { text, changes, unlisted } = plan;
  const file = lockFileOf(folder);
  // Git may write other line breaks on Windows.
  const isSame = before.replaceAll('\r\n', '\n') === text;
  const isWritten = write && !isSame;
  try {
    if (isWritten) writeInside(folder, file, { before, after: text });
  } catch (error) {
    return complain(`Nothing was written: ${reasonOf(error)}.`);
  }
  if (json) print(toJson({ file, changes, unlisted, written: isWritten }));
  else for (const { server, name, how } of changes) print(`${server}: ${name}: ${how}`);
  if (isSame && !json) print(`${lockPath} is up to date.`);
  if (!isSame && !json)
    complain(isWritten ? `Wrote ${lockPath}.` : 'Nothing is written yet. Add --write to write it.');
  for (const id of unlisted)
    complain(`"${id}" listed nothing, so its entry stays. \`mcp-toolsets status\` says why.`);
  return unlisted.length > 0 ? 1 : 0;
}
