/**
 * Masks secrets in a launch for a review (S1a). A mask must never hide what runs. So this module masks only three
 * forms: the value of an option in the same argument, the credentials of a header, and the user and the query of an
 * address. `base/secrets.ts` masks more in logs and problems, because a person approves nothing there.
 * Invariants: a bare word is never masked; the masked part has no character with a meaning in a shell or a path.
 */
import { isSecretName, mask, withoutSecrets } from '../base/secrets.js';

/** A shell reads these as more than a word. */
const script = /[\s;|&$`()<>]/;
/** Matches no file and no option. */
const token = /^[A-Za-z0-9_~%!+:@=][A-Za-z0-9._~%!+:@=-]*$/;
const option = /^--?([A-Za-z][\w-]{0,95})=/;
/** To a shell, the word before the colon is the command. To Perl and JavaScript it is a label. */
const header =
  /^(?:--?[A-Za-z][\w-]{0,95}=)?([A-Za-z][A-Za-z0-9-]{0,63}):[ \t]?(?:(?:Bearer|Basic|Token|ApiKey) )?(?=[A-Za-z0-9._~+/=-]+$)/i;
/** Addresses of these schemes are code or name a file of this machine. */
const address = /^(?:--?[A-Za-z][\w-]{0,95}=)?(?!data:|javascript:|file:|blob:)[a-z][a-z0-9+.-]*:\/\//i;
const user = /^[A-Za-z0-9._~%!+:=-]{1,2048}@/;

const deciding =
  /^(?:GIT|SSH|LD|DYLD|NODE|NPM_CONFIG|PNPM|YARN|BUN|DENO|PIP|PIPX|UV|POETRY|CONDA|GEM|BUNDLE|PHP|JAVA|JDK|MAVEN|GRADLE|DOTNET|NUGET|CARGO|RUST|GO|ZSH|DOCKER|PODMAN|KUBE|HELM)_|^(?:PYTHON|PERL|RUBY|BASH)/i;
const secretEnd = /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|(?:API|ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION)_?KEY)$/;
/** Words in names of variables that may decide what runs or its source. */
const doubtful =
  /(?:^|_)(?:COMMAND|CMD|ARG|OPTION|OPT|FLAG|PATH|DIR|HOME|FILE|CONFIG|INDEX|REGISTRY|REPO|REPOSITORY|MIRROR|PROXY|URL|URI|HOST|IMAGE|TAG|VERSION|PRELOAD|IMPORT|REQUIRE|MODULE|PLUGIN|PACKAGE|LIBRARY|LIB|SCRIPT|HOOK|EXEC|SHELL|EDITOR|PAGER|BROWSER|PROGRAM|HELPER|ASKPASS|PROCESS|INTERPRETER|RUNTIME|ENTRYPOINT|STARTUP|INIT|MAIN|BIN)S?(?:_|$)/;

/** True if the name of a variable or an option marks a secret. `GIT_CONFIG_KEY_0` is the name of a setting. */
export function holdsSecret(name: string): boolean {
  return isSecretName(name) && !/^GIT_CONFIG_KEY_/i.test(name);
}

/** True if a person may exchange the value of this variable without a question (C2). In doubt, they may not. */
export function mayBeExchanged(name: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();
  return holdsSecret(name) && secretEnd.test(words) && !deciding.test(name) && !doubtful.test(words);
}

export function maskedVariable(name: string, value: string): string {
  const isWord = value !== '' && !script.test(value) && !/[/\\]/.test(value);
  return isWord && holdsSecret(name) ? mask : maskedValue(value);
}

export function maskedArgument(argument: string): string {
  const [start = '', name = ''] = option.exec(argument) ?? [];
  const isSecret = holdsSecret(name) && token.test(argument.slice(start.length));
  return isSecret ? start + mask : maskedValue(argument);
}

function maskedValue(value: string): string {
  const [credentials, name = ''] = header.exec(value) ?? [];
  // A colon without a blank may come before the tag of an image.
  if (credentials !== undefined && / /.test(credentials) && holdsSecret(name)) return credentials + mask;
  const [start] = address.exec(value) ?? [];
  // `&` is part of most queries. To a shell, the text between two of them can be a command.
  if (start === undefined || script.test(value.replaceAll('&', ''))) return value;
  const rest = value.slice(start.length);
  const [who = ''] = user.exec(rest) ?? [];
  const [path = '', query = '', fragment = ''] =
    /^([^?#]*)(\?[^#]*)?(.*)$/s.exec(rest.slice(who.length))?.slice(1) ?? [];
  return (who === '' ? start : maskedAddress(start + who)) + path + maskedAddress(query) + fragment;
}

/** Masks the secrets of a server's address, because nothing runs from it. */
export function maskedAddress(text: string): string {
  return withoutSecrets(text, { environment: false, spare: (secret) => !token.test(secret) });
}
