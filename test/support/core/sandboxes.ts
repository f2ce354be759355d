/**
 * Real sandboxes of Linux, as the agents' own: namespaces, bubblewrap and a filter of system calls.
 * Each is the beginning of a command line.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { ensureProgram } from '../debian.js';

export interface Sandbox {
  readonly title: string;
  /** @param places folders that stay writable, and a place for files of the sandbox itself */
  readonly words: (places: SandboxPlaces) => readonly string[];
}

export interface SandboxPlaces {
  readonly writable: readonly string[];
  readonly file: string;
}

const everything = ['bwrap', '--bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
const emptyNetwork = ['unshare', '--map-root-user', '--net'];

const readOnly = ({ writable }: SandboxPlaces): string[] => [
  'bwrap',
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  ...writable.flatMap((folder) => ['--bind', folder, folder]),
];

/** Its file is the third descriptor, as bubblewrap wants it. */
const filtered = (words: readonly string[], { file }: SandboxPlaces): string[] => {
  writeFileSync(file, filterOfCodex());
  return [
    'sh',
    '-c',
    'exec "$@" 3<"$0"',
    file,
    ...words.slice(0, 1),
    '--seccomp',
    '3',
    ...words.slice(1),
  ];
};

export const sandboxes = {
  network: { title: 'a network without loopback', words: () => emptyNetwork },
  bubblewrapWithoutLoopback: {
    title: 'bubblewrap in a network without loopback',
    words: () => [...emptyNetwork, ...everything],
  },
  processes: {
    title: 'bubblewrap with processes of its own',
    words: () => [...everything, '--unshare-pid'],
  },
  readOnly: { title: 'bubblewrap with a home that cannot be written', words: readOnly },
  filter: {
    title: 'a filter of system calls like that of Codex',
    words: (places) => filtered(everything, places),
  },
  all: {
    title: 'namespaces, a home that cannot be written and a filter',
    words: (places) =>
      filtered([...readOnly(places), '--unshare-net', '--unshare-pid', '--unshare-user'], places),
  },
} satisfies Record<string, Sandbox>;

/** Returns why this machine cannot make the sandbox, or undefined. */
export async function whyNot(sandbox: Sandbox, places: SandboxPlaces): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it is of Linux on x64';
  if (!(await ensureProgram('bwrap', 'bubblewrap'))) return 'bubblewrap is not installed';
  const [command = '', ...args] = [...sandbox.words(places), 'true'];
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? undefined : `this machine does not allow it: ${stderr.trim()}`;
}

/** Of x86-64. */
const systemCalls = {
  refused: {
    sendto: 44,
    shutdown: 48,
    bind: 49,
    listen: 50,
    getsockname: 51,
    getpeername: 52,
    setsockopt: 54,
    getsockopt: 55,
    ptrace: 101,
    connect: 42,
    accept: 43,
    accept4: 288,
    recvmmsg: 299,
    sendmmsg: 307,
  },
  onlyOfUnix: { socket: 41, socketpair: 53 },
} as const;

/** A program for the kernel that answers EPERM, in the format of `struct sock_filter`. */
function filterOfCodex(): Buffer {
  const [load, jumpIfEqual, answer] = [0x20, 0x15, 0x06];
  const refuse: Instruction = [answer, 0, 0, 0x00050001];
  const allow: Instruction = [answer, 0, 0, 0x7fff0000];
  const [number, firstArgument, unix] = [0, 16, 1];
  const program: Instruction[] = [[load, 0, 0, number]];
  for (const call of Object.values(systemCalls.refused))
    program.push([jumpIfEqual, 0, 1, call], refuse);
  for (const call of Object.values(systemCalls.onlyOfUnix)) {
    const ofUnix: Instruction[] = [
      [load, 0, 0, firstArgument],
      [jumpIfEqual, 1, 0, unix],
    ];
    program.push([jumpIfEqual, 0, 4, call], ...ofUnix, refuse, allow);
  }
  return Buffer.concat([...program, allow].map(encoded));
}

/** Code, jump if true, jump if false, operand. */
type Instruction = readonly [number, number, number, number];

function encoded([code, ifTrue, ifFalse, operand]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(operand, 4);
  return bytes;
}
