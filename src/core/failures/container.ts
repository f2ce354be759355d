/**
 * Finds containers that get no input, so they cannot be servers over stdio (X3d). In doubt, the
 * command starts.
 */
import { english } from '../base/language.js';
import { programName, startedWords } from '../base/startedWords.js';
import { textsOf } from '../config/launchValues.js';
import type { StdioLaunch } from '../config/model.js';
import { failed, type StartFailure } from './startFailure.js';

const switches =
  /=|^-[dtPqDir]+$|^--(?:rm|init|privileged|read-only|detach|tty|quiet|publish-all|debug|tls|tlsverify|no-healthcheck|oom-kill-disable|sig-proxy|replace|remote|syslog|debug-full|insecure-registry|experimental)$/;

/** Also attached streams. */
const input =
  /^-[dtPq]*(?:i(?!=(?:0|[fF]|[fF]alse|FALSE)$)|a)|^--attach|^--interactive(?:=(?:1|[tT]|[tT]rue|TRUE))?$/;

/** Returns the failure of a container that gets no input. */
export function inputMissing({ command, args }: StdioLaunch): StartFailure | undefined {
  const [name = '', ...all] = startedWords([command, ...textsOf(args)]).map(({ text }) => text);
  const engine = programName(name);
  if (!/^(?:docker|podman|nerdctl)$/.test(engine)) return undefined;
  const words = all.slice(leadingOptions(all).length);
  const verb = words[0] === 'container' ? words[1] : words[0];
  if (verb !== 'run' && verb !== 'exec') return undefined;
  const options = leadingOptions(words.slice(words.indexOf(verb) + 1));
  if (options.some((word) => input.test(word) || isVariable(word))) return undefined;
  return failed(
    'missing-key',
    english`did not start: \`${engine} ${verb}\` without \`-i\` gives the server no input, so it could never answer.`,
    english`Write \`-i\` behind \`${verb}\` in args.`,
    ['args'],
  );
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
