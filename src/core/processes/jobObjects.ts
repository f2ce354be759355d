/**
 * Windows' job objects through koffi:
 * https://learn.microsoft.com/windows/win32/procthread/job-objects
 */
import type koffi from 'koffi';
import { ownPackage } from '../base/ownPackage.js';

export type Job = object;

/** JOBOBJECT_EXTENDED_LIMIT_INFORMATION of a 64-bit system, with LimitFlags at 16. */
const extendedLimits = {
  class: 9,
  size: 144,
  flagsAt: 16,
  killOnClose: 0x2000,
} as const;
/** JOBOBJECT_BASIC_PROCESS_ID_LIST: two counts of four bytes, then ids of eight. */
const processIdList = {
  class: 3,
  idsAt: 8,
  idSize: 8,
  most: 65536,
} as const;
const accessToEnter = 0x0101;

let kernel: ReturnType<typeof loadKernel> | undefined;
let missing: string | undefined;

/** Loads the library. Returns the reason why job objects are unavailable, or undefined. */
export function jobsMissing(): string | undefined {
  if (kernel !== undefined || missing !== undefined) return missing;
  try {
    kernel = loadKernel();
  } catch (error) {
    missing = `Windows’ job objects cannot be used: ${(error as Error).message.split('\n', 1)[0]}.`;
  }
  return missing;
}

function loadKernel() {
  // Loads only the binary of this processor, because koffi's loader does not survive bundling.
  const binding = ownPackage(`@koromix/koffi-win32-${process.arch}`) as typeof koffi;
  const library = binding.load('kernel32.dll');
  const handle = 'void *';
  return {
    create: library.func('CreateJobObjectW', handle, [handle, handle]),
    limit: library.func('SetInformationJobObject', 'bool', [handle, 'int', handle, 'uint32_t']),
    query: library.func('QueryInformationJobObject', 'bool', [
      handle,
      'int',
      handle,
      'uint32_t',
      handle,
    ]),
    enter: library.func('AssignProcessToJobObject', 'bool', [handle, handle]),
    terminate: library.func('TerminateJobObject', 'bool', [handle, 'uint32_t']),
    open: library.func('OpenProcess', handle, ['uint32_t', 'bool', 'uint32_t']),
    close: library.func('CloseHandle', 'bool', [handle]),
  };
}

/** Its members end when its handle is closed, by us or with us. */
export function createJob(): Job | undefined {
  const job = kernel?.create(null, null) as Job | null | undefined;
  if (!kernel || !job) return undefined;
  const limits = Buffer.alloc(extendedLimits.size);
  limits.writeUInt32LE(extendedLimits.killOnClose, extendedLimits.flagsAt);
  if (kernel.limit(job, extendedLimits.class, limits, limits.length)) return job;
  closeJob(job);
  return undefined;
}

export function enterJob(job: Job, pid: number): boolean {
  const opened = kernel?.open(accessToEnter, false, pid) as object | null | undefined;
  if (!kernel || !opened) return false;
  const entered = kernel.enter(job, opened) as boolean;
  kernel.close(opened);
  return entered;
}

export function jobMembers(job: Job): number[] | undefined {
  for (let room = 64; room <= processIdList.most; room *= 2) {
    const list = Buffer.alloc(processIdList.idsAt + room * processIdList.idSize);
    const whole = kernel?.query(job, processIdList.class, list, list.length, null) as
      | boolean
      | undefined;
    const all = list.readUInt32LE(0);
    const listed = list.readUInt32LE(4);
    if (whole && all <= listed) {
      return Array.from({ length: listed }, (_, index) =>
        Number(list.readBigUInt64LE(processIdList.idsAt + index * processIdList.idSize)),
      );
    }
  }
  return undefined;
}

export function terminateJob(job: Job): void {
  kernel?.terminate(job, 1);
}

export function closeJob(job: Job): void {
  kernel?.close(job);
}
