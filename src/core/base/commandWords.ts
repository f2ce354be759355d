/**
 * Returns the words of a command line, or undefined for an open quote. Other shell syntax has no
 * meaning.
 */
export function commandWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let rest = line.trim(); rest !== '';) {
    const match = /^(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|([^\s'"]+)|(\s+))/s.exec(rest);
    if (!match) return undefined;
    const [whole, single, double, plain, gap] = match;
    if (gap !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + (single ?? double?.replace(/\\(["\\])/g, '$1') ?? plain ?? '');
    rest = rest.slice(whole.length);
  }
  return word === undefined ? words : [...words, word];
}

/**
 * True for a program with arguments. A path and a quoted program may hold spaces; a bare name may
 * not.
 */
export function hasArguments(command: string): boolean {
  const [first = '', ...more] = commandWords(command) ?? command.trim().split(/\s+/);
  return more.length > 0 && /^[^\s\\/'"]+$/.test(first);
}

/** True for a shell, which expands variables in its arguments. */
export function isShell(command: string): boolean {
  return /(?:^|[\\/])(?:(?:ba|da|fi|k|z)?sh|cmd|powershell|pwsh)(?:\.exe)?$/i.test(command);
}
