/** Finds the program behind `sudo`, `env`, `sh -c` and the like. */
import { commandWords, isShell } from './commandWords.js';

export interface StartedWord {
  readonly text: string;
  /** The index of the given word with it. */
  readonly from: number;
}

/** Programs that start another one, with their options that take the next word. */
const starters: ReadonlyMap<string, RegExp> = new Map([
  ['sudo', /^(?:-[a-zA-Z]*[ughprtTUCDR]|--(?:user|group|host|prompt|role|type|chdir|chroot))$/],
  ['doas', /^-[uC]$/],
  ['env', /^(?:-[uC]|--(?:unset|chdir))$/],
  ['nice', /^(?:-n|--adjustment)$/],
  ['nohup', /^$/],
  ['exec', /^-a$/],
]);

const mostStarters = 8;

/** Returns the name of a program without its folder and the ending of Windows. */
export function programName(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? word).replace(/\.(?:exe|cmd|bat|ps1)$/i, '').toLowerCase();
}

/** Returns the program with its arguments, or nothing. */
export function startedWords(given: readonly string[]): readonly StartedWord[] {
  let words: readonly StartedWord[] = given.map((text, from) => ({ text, from }));
  for (let depth = 0; depth < mostStarters; depth++) {
    const first = words.findIndex(({ text }) => !/^\w+=/.test(text));
    if (first < 0) return [];
    const [program = { text: '', from: 0 }, ...rest] = words.slice(first);
    const values = starters.get(programName(program.text));
    if (values) words = behindOptions(rest, values);
    else if (isShell(program.text)) words = commandOfShell(program.text, rest);
    else return [program, ...rest];
  }
  return [];
}

function behindOptions(words: readonly StartedWord[], withValue: RegExp): readonly StartedWord[] {
  let end = 0;
  while (words[end]?.text.startsWith('-')) end += withValue.test(words[end]?.text ?? '') ? 2 : 1;
  return words.slice(end);
}

/** Returns the words of the only program of a shell's script, or nothing. */
function commandOfShell(shell: string, words: readonly StartedWord[]): readonly StartedWord[] {
  const at = words.findIndex(({ text }) => /^(?:-\w*c|-command|\/[ck])$/i.test(text));
  if (at < 0 || !words.slice(0, at).every(({ text }) => /^[-/]/.test(text))) return [];
  const takesAll = /(?:cmd|powershell|pwsh)$/.test(programName(shell));
  const given = words.slice(at + 1, takesAll ? undefined : at + 2);
  const script = given.map(({ text }) => text).join(' ');
  const commands = script.trim().split(/&&|;|\n/);
  const isPlain = commands.every((line) => !/[&|<>()`]/.test(line));
  const last = commands.pop() ?? '';
  const isOnly = commands.every((line) => /^\s*(?:(?:cd|export|set)\s|$)/.test(line));
  const found = (isPlain && isOnly && commandWords(last)) || [];
  const isSame = found.length === given.length;
  return found.map((text, index) => ({ text, from: given[isSame ? index : 0]?.from ?? 0 }));
}
