/**
 * Patterns of spec N1: `*` is any substring, also an empty one; every other character is literal; case-sensitive.
 * minimatch does the matching; what it would read as more than that is made literal first.
 */
import { Minimatch } from 'minimatch';

export interface Pattern {
  readonly text: string;
  matches(name: string): boolean;
}

/** Characters that mean something in a path (separators, escapes, `.` and `..`) and nothing in a tool's name. */
const standIns: Readonly<Record<string, string>> = { '/': '\uE000', '\\': '\uE001', '.': '\uE002' };

function withoutPathCharacters(text: string): string {
  return text.replace(/[/\\.]/g, (character) => standIns[character] ?? character);
}

export function compilePattern(text: string): Pattern {
  if (!text.includes('*')) return { text, matches: (name) => name === text };
  const glob = withoutPathCharacters(text)
    .replace(/\*+/g, '*')
    .replace(/[?[\]]/g, '[$&]');
  const matcher = new Minimatch(glob, {
    dot: true,
    nobrace: true,
    nocomment: true,
    noext: true,
    noglobstar: true,
    nonegate: true,
    platform: 'linux',
  });
  const everything = glob === '*';
  return { text, matches: (name) => everything || matcher.match(withoutPathCharacters(name)) };
}
