/** Splits a command line that a person wrote where one program belongs. Everything here is pure. */

/** Returns the words of a command line without their quotes, or undefined where a quote is not closed. No other shell syntax is known. */
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
 * Says whether a command names a program and its arguments in one text. A path may hold spaces, and so may the name of
 * a program in quotes; a bare name such as `npx` with words behind it is no program.
 */
export function hasArguments(command: string): boolean {
  const [first = '', ...more] = commandWords(command) ?? command.trim().split(/\s+/);
  return more.length > 0 && /^[^\s\\/'"]+$/.test(first);
}

/** True for a shell, which expands variables in its arguments. */
export function isShell(command: string): boolean {
  return /(?:^|[\\/])(?:(?:ba|da|fi|k|z)?sh|cmd|powershell|pwsh)(?:\.exe)?$/i.test(command);
}
