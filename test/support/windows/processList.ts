/**
 * The processes of this Windows with their command lines and their environments at the start. It
 * reads them from memory, because Windows has no other source for environments and for parents that
 * have ended.
 */
import { createRequire } from 'node:module';
import type koffi from 'koffi';

interface WindowsProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** `NAME=value` each. */
  readonly environment: readonly string[];
}

/** Offsets in PROCESSENTRY32W, PEB and RTL_USER_PROCESS_PARAMETERS of 64-bit Windows. */
const entry = { size: 568, pid: 8, parent: 32 } as const;
const block = { parameters: 0x20 } as const;
const parameters = {
  size: 0x3f8,
  commandLine: 0x70,
  environment: 0x80,
  environmentSize: 0x3f0,
} as const;
/** PROCESS_QUERY_INFORMATION and PROCESS_VM_READ. */
const accessToRead = 0x0410;
const snapshotOfProcesses = 2;

type Call = (...args: unknown[]) => unknown;
let system:
  | Record<'snapshot' | 'first' | 'next' | 'open' | 'close' | 'exit' | 'read' | 'basics', Call>
  | undefined;

function load(): NonNullable<typeof system> {
  const binding = createRequire(__filename)(`@koromix/koffi-win32-${process.arch}`) as typeof koffi;
  const kernel = binding.load('kernel32.dll');
  const handle = 'void *';
  return {
    snapshot: kernel.func('CreateToolhelp32Snapshot', handle, ['uint32_t', 'uint32_t']),
    first: kernel.func('Process32FirstW', 'bool', [handle, handle]),
    next: kernel.func('Process32NextW', 'bool', [handle, handle]),
    open: kernel.func('OpenProcess', handle, ['uint32_t', 'bool', 'uint32_t']),
    close: kernel.func('CloseHandle', 'bool', [handle]),
    exit: kernel.func('GetExitCodeProcess', 'bool', [handle, handle]),
    read: kernel.func('ReadProcessMemory', 'bool', [
      handle,
      'uint64_t',
      handle,
      'uint64_t',
      handle,
    ]),
    basics: binding
      .load('ntdll.dll')
      .func('NtQueryInformationProcess', 'int32_t', [handle, 'int', handle, 'uint32_t', handle]),
  };
}

export function windowsProcesses(): WindowsProcess[] {
  const { snapshot, first, next, close } = (system ??= load());
  const found: WindowsProcess[] = [];
  const list = snapshot(snapshotOfProcesses, 0);
  const row = Buffer.alloc(entry.size);
  row.writeUInt32LE(entry.size, 0);
  for (let more = first(list, row); more; more = next(list, row)) {
    const [pid, parent] = [row.readUInt32LE(entry.pid), row.readUInt32LE(entry.parent)];
    const started = startOf(pid);
    if (started) found.push({ pid, parent, ...started });
  }
  close(list);
  return found;
}

/** On a busy machine Wine sometimes cannot read the memory of another process at once. */
const mostReadings = 5;

/** Undefined if it has ended or belongs to the system. */
function startOf(pid: number): Pick<WindowsProcess, 'command' | 'environment'> | undefined {
  const { open, close, exit } = (system ??= load());
  const opened = open(accessToRead, false, pid);
  if (!opened) return undefined;
  try {
    for (let reading = 1; ; reading++) {
      const code = Buffer.alloc(4);
      const stillActive = 259;
      if (!exit(opened, code) || code.readUInt32LE() !== stillActive) return undefined;
      const found = readStart(opened);
      if (found || reading === mostReadings) return found ?? { command: '', environment: [] };
    }
  } finally {
    close(opened);
  }
}

function readStart(opened: unknown): Pick<WindowsProcess, 'command' | 'environment'> | undefined {
  const { read, basics } = (system ??= load());
  const memory = (at: bigint, size: number): Buffer | undefined => {
    const bytes = Buffer.alloc(size);
    return at !== 0n && size > 0 && read(opened, at, bytes, size, null) ? bytes : undefined;
  };
  const basic = Buffer.alloc(48);
  if (basics(opened, 0, basic, basic.length, null) !== 0) return undefined;
  const pointer = memory(basic.readBigUInt64LE(8) + BigInt(block.parameters), 8);
  const all = pointer && memory(pointer.readBigUInt64LE(), parameters.size);
  if (!all) return undefined;
  const commandSize = all.readUInt16LE(parameters.commandLine);
  const command = memory(all.readBigUInt64LE(parameters.commandLine + 8), commandSize);
  const size = Number(all.readBigUInt64LE(parameters.environmentSize));
  const environment = memory(all.readBigUInt64LE(parameters.environment), Math.min(size, 1 << 20));
  if (!command || !environment) return undefined;
  return {
    command: command.toString('utf16le'),
    environment: environment.toString('utf16le').split('\0'),
  };
}
