/**
 * What confines this process: its user, its namespaces and filters on Linux, its sandbox on macOS.
 * One process may act for another only if all that confines them is equal (G6g).
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { unlessThrown } from './unlessThrown.js';

/** Values by their names in messages. */
export type Confinement = Readonly<Record<string, string>>;

const processes = 'process namespace';
const boot = 'boot';
const filter = 'filter of system calls';
const ban = 'ban on new privileges';

let known: Confinement | undefined;

/** Stays the same during the life of a process, except for filters that it adds to itself. */
export function confinementHere(): Confinement {
  return (known ??= { user: user(), ...ofSystem() });
}

function ofSystem(): Confinement {
  if (process.platform === 'linux') return ofLinux();
  return process.platform === 'darwin' ? { sandbox: isSandboxedByMac() ? 'yes' : 'no' } : {};
}

/** Windows has no numbers of users. */
function user(): string {
  return String(process.getuid?.() ?? process.env['USERNAME']);
}

function ofLinux(): Confinement {
  const read = (file: string): string =>
    unlessThrown(() => readFileSync(file, 'utf8').trim()) ?? '';
  const namespace = (name: string): string =>
    unlessThrown(() => readlinkSync(`/proc/self/ns/${name}`)) ?? '';
  const status = read('/proc/self/status');
  const line = (name: string): string =>
    new RegExp(`^${name}:\\s*(\\w+)`, 'm').exec(status)?.[1] ?? '';
  return {
    [boot]: read('/proc/sys/kernel/random/boot_id'),
    'mount namespace': namespace('mnt'),
    'network namespace': namespace('net'),
    [processes]: namespace('pid'),
    'user namespace': namespace('user'),
    [filter]: `${line('Seccomp')} ${line('Seccomp_filters')}`.trim(),
    [ban]: line('NoNewPrivs'),
    container: containerIn(read('/proc/self/cgroup')),
  };
}

/** Container engines name their groups by the long id of the container, or below `lxc`. */
export function containerIn(groups: string): string {
  return /[0-9a-f]{64}|lxc(?:\.payload)?[./][^/\s]+/.exec(groups)?.[0] ?? '';
}

/** A process in a sandbox of macOS may not enter another one. */
function isSandboxedByMac(): boolean {
  const anything = ['-p', '(version 1)(allow default)', '/usr/bin/true'];
  return spawnSync('/usr/bin/sandbox-exec', anything, { env: {}, stdio: 'ignore' }).status !== 0;
}

/**
 * True if a program without privileges has set a filter of system calls, as sandboxes do, and the
 * engines of containers usually do not.
 */
export function isFiltered({ [filter]: set = '', [ban]: isBanned } = confinementHere()): boolean {
  return set.startsWith('2') && isBanned === '1';
}

const processesOfMachine = 'pid:[4026531836]';

/** True in a sandbox that stays until the last of its processes has ended. */
export function waitsForProcesses(confinement = confinementHere()): boolean {
  return confinement[ban] === '1' && confinement[processes] !== processesOfMachine;
}

/** The names of what differs. */
export function differences(one: Confinement, other: Confinement): string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.filter((name) => one[name] !== other[name]);
}

/** True if a process id means the same process for both. */
export function sharesProcesses(one: Confinement, other: Confinement): boolean {
  return one[processes] === other[processes] && sharesBoot(one, other);
}

/** False if the machine has started anew in between, or there are two machines. */
export function sharesBoot(one: Confinement, other: Confinement): boolean {
  return one[boot] === other[boot];
}
