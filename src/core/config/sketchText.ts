/** Words of YAML text as they stand on a line, whole or not: for the tolerant reading of `sketch`. */

export function keyAt(
  text: string,
  at: number,
  end: number,
): { name: string; end: number; colon: number; quote: '' | "'" | '"' } | undefined {
  const line = text.slice(at, end);
  const found = /^(?:("(?:[^"\\]|\\.)*")|('(?:[^']|'')*')|([^\s#&*!|>'"%@`{}[\],?-][^#]*?|[?-][^\s#][^#]*?|[^\s'"{}[\],][^#]*?))([ \t]*):(?=\s|$)/.exec(line); // prettier-ignore
  if (!found) return undefined;
  const raw = found[1] ?? found[2] ?? found[3] ?? '';
  const quote = found[1] ? '"' : found[2] ? "'" : '';
  const keyEnd = at + raw.length;
  return { name: quote ? unquoted(raw) : raw, end: keyEnd, colon: keyEnd + (found[4]?.length ?? 0), quote };
}

/** Behind the closing quote; an open one ends with its line. */
export function quoteEnd(text: string, at: number, lineEnd: number): number {
  const rest = text.slice(at, lineEnd);
  const found = (rest.startsWith('"') ? /^"(?:[^"\\]|\\.)*"/ : /^'(?:[^']|'')*'/).exec(rest);
  return at + (found?.[0].length ?? rest.trimEnd().length);
}

export function plainEnd(text: string, at: number, end: number): number {
  const rest = text.slice(at, end);
  const comment = rest.search(/\s#/);
  return at + (comment < 0 ? rest : rest.slice(0, comment)).trimEnd().length;
}

export function flowWordEnd(text: string, at: number): number {
  const rest = text.slice(at, lineEnd(text, at));
  const stop = rest.search(/[,[\]{}]|:(?=[\s,[\]{}]|$)|\s#/);
  return at + (stop < 0 ? rest : rest.slice(0, stop)).trimEnd().length;
}

export function lineEnd(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    if (text[end] === '\n' || text[end] === '\r') return end;
  }
  return text.length;
}

export function nextLine(text: string, end: number): number {
  return text.startsWith('\r\n', end) ? end + 2 : end + 1;
}

export function unquoted(raw: string): string {
  const body = raw.slice(1, raw.length > 1 && raw.endsWith(raw.charAt(0)) ? -1 : undefined);
  return raw.startsWith("'") ? body.replaceAll("''", "'") : body.replace(/\\(.)/g, '$1');
}
