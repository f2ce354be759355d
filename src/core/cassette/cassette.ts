/**
 * The format of a cassette: what passed between clients and a server, as JSON Lines. The first line names the format and the
 * command, and each other line has one message, its side and its session, because many clients start a server more than once.
 * Everything is pure.
 */
import { isObject } from '../base/isObject.js';
import type { Redactor } from '../base/log.js';

export type Side = 'client' | 'server';

export interface CassetteEntry {
  readonly session: string;
  readonly from: Side;
  readonly message: Message;
}

export type Message = Readonly<Record<string, unknown>>;

const format = { cassette: 'mcp-toolsets', version: 1 } as const;

export function headLine(command: readonly string[], redactor: Redactor): string {
  return line({ ...format, command }, redactor);
}

/** Returns undefined for a line that is no JSON object, such as a stray print of the server. */
export function entryLine(session: string, from: Side, text: string, redactor: Redactor): string | undefined {
  const message = parsed(text);
  return isObject(message) ? line({ session, from, message }, redactor) : undefined;
}

/** Redacts each text, and then the whole, because names of keys show secrets too. */
function line(value: object, redactor: Redactor): string {
  const clean = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'string' ? redactor.redact(inner, inner.length) : inner,
  );
  const whole = redactor.redact(clean, clean.length);
  return isObject(parsed(whole)) ? whole : clean;
}

/** Throws with a phrase about the line that is no cassette. */
export function parseCassette(text: string): CassetteEntry[] {
  const [head = '', ...lines] = text.split('\n');
  checkHead(head);
  return lines.flatMap((each, index): CassetteEntry[] => {
    if (each.trim() === '') return [];
    const entry = parsed(each);
    const { session, from, message } = isObject(entry) ? entry : {};
    if (typeof session !== 'string' || (from !== 'client' && from !== 'server') || !isObject(message)) {
      throw new Error(`line ${index + 2} is no message of a cassette`);
    }
    return [{ session, from, message }];
  });
}

export function checkHead(head: string): void {
  const first = parsed(head);
  if (!isObject(first) || first['cassette'] !== format.cassette) throw new Error('line 1 does not name a cassette');
  if (first['version'] !== format.version) throw new Error('its version is not known here');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
