/**
 * Masks secrets in a launch for a review (S1e). A mask must never hide what runs. So this module
 * masks only three forms: the value of an option in the same argument, the credentials of a header,
 * and the user and the query of an address. `base/secrets.ts` masks more in logs and problems,
 * because a person approves nothing there. Invariants: a bare word is never masked; the masked part
 * has no character with a meaning in a shell or a path.
 */
import { isClearlySecret, wordsOf } from '../base/secretNames.js';
import { hasSecretShape, isSecretName, mask, withoutSecrets } from '../base/secrets.js';

/** A shell reads these as more than a word. */
const script = /[\s;|&$`()<>]/;
/** Matches no file and no option. */
const token = /^[A-Za-z0-9_~%!+:@=][A-Za-z0-9._~%!+:@=-]*$/;
const option = /^--?([A-Za-z][\w-]{0,95})=/;
/** To a shell, the word before the colon is the command. To Perl and JavaScript it is a label. */
const header =
  /^(?:--?[A-Za-z][\w-]{0,95}=)?([A-Za-z][A-Za-z0-9-]{0,63}):[ \t]?(?:(?:Bearer|Basic|Token|ApiKey) )?(?=[A-Za-z0-9._~+/=-]+$)/i;
/** Addresses of these schemes are code or name a file of this machine. */
const address =
  /^(?:--?[A-Za-z][\w-]{0,95}=)?(?!data:|javascript:|file:|blob:)[a-z][a-z0-9+.-]*:\/\//i;
const user = /^[A-Za-z0-9._~%!+:=-]{1,2048}@/;

const deciding =
  /^(?:GIT|SSH|LD|DYLD|NODE|NPM_CONFIG|PNPM|YARN|BUN|DENO|PIP|PIPX|UV|POETRY|CONDA|GEM|BUNDLE|PHP|JAVA|JDK|MAVEN|GRADLE|DOTNET|NUGET|CARGO|RUST|GO|ZSH|DOCKER|PODMAN|KUBE|HELM)_|^(?:PYTHON|PERL|RUBY|BASH)/i;
const secretEnd =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|(?:API|ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION)_?KEY)$/;
/** Words for code. A long one also counts at an end of a word, as in `IMPORTKEY`. */
const code =
  /^(?:(?:CMD|HOOK|EXEC|SHELL|LIB|BIN|EVAL|LOAD|RUN|IMAGE)S?$|(?:COMMAND|PRELOAD|IMPORT|REQUIRE|LOADER|MODULE|PLUGIN|LIBRARY|SCRIPT|PROGRAM|HELPER|ASKPASS|INTERPRETER|ENTRYPOINT|STARTUP))|(?:COMMAND|PRELOAD|IMPORT|REQUIRE|LOADER|MODULE|PLUGIN|LIBRARY|PROGRAM|HELPER|ASKPASS)S?$/;
/** Words for the source of a program, its options and its time. */
const doubtful =
  /^(?:ARG|OPTION|OPT|FLAG|PATH|DIR|HOME|FILE|CONFIG|INDEX|REGISTRY|REPO|REPOSITORY|MIRROR|PROXY|URL|URI|HOST|TAG|VERSION|PACKAGE|EDITOR|PAGER|BROWSER|PROCESS|RUNTIME|INIT|MAIN|EXECUTABLE|RUNNER|CLASS|ENGINE|BACKEND|HANDLER|EXTENSION|ADDON)S?$/;

/**
 * Returns what a variable or an option decides by its name: code that runs, perhaps its source, or
 * neither (C2d, S1e).
 */
function decidedBy(name: string): 'code' | 'doubtful' | 'nothing' {
  const words = wordsOf(name);
  if (words.some((word) => code.test(word))) return 'code';
  return deciding.test(name) || words.some((word) => doubtful.test(word)) ? 'doubtful' : 'nothing';
}

/** `evil.js`, `module:evil`, `evil@1.2.3` and `evil==1.2`. */
const program =
  /^[\w.@-]*\.(?:[cm]?[jt]sx?|json|py[cdw]?|rb|p[lm]|php|lua|sh|bash|zsh|ps1|bat|cmd|com|exe|dll|so|dylib|node|wasm|jar|class|ya?ml|toml)$|^[a-z][\w.+-]*:[a-z_@][\w.:@-]*$|^[a-z][\w.-]*(?:@|==)\d+\.\d/i;

/** True if a mask may replace the value. In doubt, a person has to see it. */
function isHidden(name: string, value: string): boolean {
  // `GIT_CONFIG_KEY_0` is the name of a setting.
  if (!isSecretName(name) || /^GIT_CONFIG_KEY_/i.test(name) || decidedBy(name) === 'code')
    return false;
  return hasSecretShape(value) || (isClearlySecret(name) && !program.test(value));
}

/**
 * True if a person may exchange the value of this variable without a question (C2d). In doubt, they
 * may not.
 */
export function mayBeExchanged(name: string): boolean {
  return (
    isSecretName(name) && secretEnd.test(wordsOf(name).join('_')) && decidedBy(name) === 'nothing'
  );
}

export function maskedVariable(name: string, value: string): string {
  const isWord = value !== '' && !script.test(value) && !/[/\\]/.test(value);
  return isWord && isHidden(name, value) ? mask : maskedValue(value);
}

export function maskedArgument(argument: string): string {
  const [start = '', name = ''] = option.exec(argument) ?? [];
  const value = argument.slice(start.length);
  return token.test(value) && isHidden(name, value) ? start + mask : maskedValue(argument);
}

function maskedValue(value: string): string {
  const [credentials, name = ''] = header.exec(value) ?? [];
  // A colon without a blank may come before the tag of an image.
  const isHeader = credentials !== undefined && / /.test(credentials);
  if (isHeader && isSecretName(name) && decidedBy(name) !== 'code') return credentials + mask;
  const [start] = address.exec(value) ?? [];
  // `&` is part of most queries. To a shell, the text between two of them can be a command.
  if (start === undefined || script.test(value.replaceAll('&', ''))) return value;
  const rest = value.slice(start.length);
  const [who = ''] = user.exec(rest) ?? [];
  const [path = '', query = '', fragment = ''] =
    /^([^?#]*)(\?[^#]*)?(.*)$/s.exec(rest.slice(who.length))?.slice(1) ?? [];
  return (who === '' ? start : maskedAddress(start + who)) + path + maskedQuery(query) + fragment;
}

/** The program may come from this address, so its parameters may decide what runs. */
function maskedQuery(query: string): string {
  return query.replace(/[?&]([^?&=]+)=([^&]*)/g, (parameter, name: string, value: string) =>
    decidedBy(name) === 'code' || program.test(value) ? parameter : maskedAddress(parameter),
  );
}

/** Masks the secrets of a server's address, because nothing runs from it. */
export function maskedAddress(text: string): string {
  return withoutSecrets(text, { environment: false, spare: (secret) => !token.test(secret) });
}
