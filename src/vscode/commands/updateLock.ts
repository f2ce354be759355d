/**
 * *Update Lock* (S3d): accepts for the team what a server offers now. As the command line does, it
 * asks another instance as a client without capabilities, without the layer of the person.
 */
import { inert } from '../../core/base/inert.js';
import { said, translated } from '../../core/base/language.js';
import { shortList } from '../../core/base/text.js';
import { lockPath } from '../../core/config/sources.js';
import { lockFileOf } from '../../core/files/lockFile.js';
import { writeInside } from '../../core/files/realFiles.js';
import { lockIn } from '../../core/lock/folderLocks.js';
import { differencePhrase } from '../../core/lock/lockedServer.js';
import { planLock } from '../../core/lock/lockPlan.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { tell } from '../views/inertEditor.js';

const mostNamed = 20;

export async function updateLock(slot: EngineSlot, id: string): Promise<void> {
  const { engine, sources } = slot;
  const server = slot.serverOf(id);
  const source = sources.find(({ file, lock }) => lock && file === server?.place.file);
  if (!engine || !source?.lock) return;
  const { folder, lock } = source;
  const before = lockIn(lock);
  if (typeof before === 'string')
    throw new Error(said`${lockPath} cannot be read: ${translated(before)}.`);
  const plain = engine.plain(id);
  try {
    await plain.host.setSources(sources.filter(({ origin }) => origin !== 'local'));
    const { text, changes, unlisted } = planLock(plain.host.snapshot.servers, before, [id]);
    if (unlisted.length > 0)
      throw new Error(
        said`“${id}” listed nothing without your local file. Approve its launch, or look at its log.`,
      );
    writeInside(folder, lockFileOf(folder), {
      before: lock.kind === 'text' ? lock.text : '',
      after: text,
    });
    const names = translated(shortList(changes.map(differencePhrase), mostNamed));
    tell(
      names === ''
        ? inert`${lockPath} already has what “${id}” offers.`
        : inert`${lockPath} has what “${id}” offers now: ${names}.`,
    );
  } finally {
    await plain.dispose();
  }
}
