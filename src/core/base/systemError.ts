import { english } from './language.js';

/** Errors of the file system in words, because Node says `EROFS: read-only file system, mkdir '…'`. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: english`permission denied`,
  EDQUOT: english`your quota of the disk is used up`,
  EEXIST: english`another file is in its place`,
  EIO: english`the disk reported an error`,
  EISDIR: english`it is a folder`,
  ELOOP: english`its symbolic links go in a circle`,
  ENOENT: english`it does not exist`,
  ENOSPC: english`the disk is full`,
  ENOTDIR: english`a folder of its path is a file`,
  EPERM: english`permission denied`,
  EROFS: english`the file system is read-only`,
};

/** Returns the reason for a code of the system, or the code. */
export function systemReason(code: string): string {
  return reasons[code] ?? code;
}

interface SystemError {
  readonly code?: string;
  readonly path?: string;
  readonly syscall?: string;
}

/** Returns the file and the reason. Undefined for any other error, also of sockets, programs and watches. */
export function fileError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '', path, syscall = '' }: SystemError = error as Error & SystemError;
  const reason = reasons[code];
  if (reason === undefined || /^(?:accept|bind|connect|listen|spawn|watch)/.test(syscall))
    return undefined;
  return path === undefined ? english`${reason} (${code})` : english`${path}: ${reason} (${code})`;
}
