/**
 * Finds containers that get no input, so they cannot be servers over stdio (X3d). In doubt, the
 * command starts.
 */
import { commandWords, isShell } from '../base/commandWords.js';
import { textsOf } from '../config/launchValues.js';
import type { StdioLaunch } from '../config/model.js';
import { baseName } from './likelyCause.js';
import { failed, type StartFailure } from './startFailure.js';

const switches =
  /=|^-[dtPqDir]+$|^--(?:rm|init|privileged|read-only|detach|tty|quiet|publish-all|debug|tls|tlsverify|no-healthcheck|oom-kill-disable|sig-proxy|replace|remote|syslog|debug-full|insecure-registry|experimental)$/;

/** Also attached streams. */
const input =
  /^-[dtPq]*(?:i(?!=(?:0|[fF]|[fF]alse|FALSE)$)|a)|^--attach|^--interactive(?:=(?:1|[tT]|[tT]rue|TRUE))?$/;

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

/** Returns the failure of a container that gets no input. */
export function inputMissing({ command, args }: StdioLaunch): StartFailure | undefined {
  const [name = '', ...all] = started([command, ...textsOf(args)]);
  const engine = programName(name);
  if (!/^(?:docker|podman|nerdctl)$/.test(engine)) return undefined;
  const words = all.slice(leadingOptions(all).length);
  const verb = words[0] === 'container' ? words[1] : words[0];
  if (verb !== 'run' && verb !== 'exec') return undefined;
  const options = leadingOptions(words.slice(words.indexOf(verb) + 1));
  if (options.some((word) => input.test(word) || isVariable(word))) return undefined;
  const without = `\`${engine} ${verb}\` without \`-i\``;
  const what = `${without} gives the server no input, so it could never answer.`;
  return failed(
    'missing-key',
    `did not start: ${what}`,
    `Write \`-i\` behind \`${verb}\` in args.`,
    ['args'],
  );
}

function programName(word: string): string {
  return baseName(word)
    .replace(/\.exe$/i, '')
    .toLowerCase();
}

/** A variable of a shell may hold any option. */
function isVariable(word: string): boolean {
  return /^[$%@][^:/=]*$/.test(word);
}

/** Returns the words of the options, up to the first other word. A value has no dash. */
function leadingOptions(words: readonly string[]): readonly string[] {
  let end = 0;
  for (;;) {
    const word = words[end] ?? '';
    if (!word.startsWith('-') && !isVariable(word)) return words.slice(0, end);
    const isAlone = switches.test(word) || isVariable(word) || words[end + 1]?.startsWith('-');
    end += isAlone ? 1 : 2;
  }
}

/** Returns the words of the program behind `sudo`, `env`, `sh -c` and the like. */
function started(given: readonly string[]): readonly string[] {
  let words = given;
  for (let depth = 0; depth < mostStarters; depth++) {
    const first = words.findIndex((word) => !/^\w+=/.test(word));
    const [program = '', ...rest] = words.slice(first);
    const values = starters.get(programName(program));
    if (values) words = behindOptions(rest, values);
    else if (isShell(program)) words = commandWords(commandOfShell(program, rest)) ?? [];
    else return [program, ...rest];
  }
  return [];
}

function behindOptions(words: readonly string[], withValue: RegExp): readonly string[] {
  let end = 0;
  while (words[end]?.startsWith('-')) end += withValue.test(words[end] ?? '') ? 2 : 1;
  return words.slice(end);
}

/** Returns the only program of a shell's script, or nothing. */
function commandOfShell(shell: string, words: readonly string[]): string {
  const at = words.findIndex((word) => /^(?:-\w*c|-command|\/[ck])$/i.test(word));
  if (at < 0 || !words.slice(0, at).every((word) => /^[-/]/.test(word))) return '';
  const takesAll = /(?:cmd|powershell|pwsh)$/.test(programName(shell));
  const script = words.slice(at + 1, takesAll ? undefined : at + 2).join(' ');
  const commands = script.trim().split(/&&|;|\n/);
  const isPlain = commands.every((line) => !/[&|<>()`]/.test(line));
  const last = commands.pop() ?? '';
  const isOnly = commands.every((line) => /^\s*(?:(?:cd|export|set)\s|$)/.test(line));
  return isPlain && isOnly ? last : '';
}
