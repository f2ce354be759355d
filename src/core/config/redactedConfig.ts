/**
 * Makes a config file fit to be shown to strangers, for a bug report: its structure remains, comments go, and every value
 * that is not known to be harmless is masked. Pure.
 */
import { readYaml } from '../yaml/yamlTree.js';
import { isEmpty, plainValue, type ValueNode } from '../yaml/valueNodes.js';

const mask = '•••';

/** Returns undefined if the text cannot be read, because then nothing in it can be told from a secret. */
export function redactedConfig(text: string): string | undefined {
  const { errors, root } = readYaml(text);
  return errors.length > 0 ? undefined : JSON.stringify(wholeFile(root), undefined, 2);
}

/** The keys of a server whose values say nothing about a person. */
const harmless = new Set([
  'enabled',
  'truely-stateless',
  'transport',
  'command',
  'cwd',
  'tools',
  'transform',
  'timeouts',
  'prompts',
  'resources',
  'type',
]);

/** Servers stand below a key or, in files of other programs, at the top. */
function wholeFile(root: ValueNode): unknown {
  return members(root, (key, value) => {
    if (key === 'version') return value.kind === 'scalar' && typeof value.value === 'number' ? value.value : mask;
    return key === 'servers' || key === 'mcpServers' ? members(value, (_, server) => entry(server)) : entry(value);
  });
}

function entry(server: ValueNode): unknown {
  return members(server, (key, value) => {
    switch (key) {
      case 'env':
      case 'headers':
        return members(value, (_, reference) => variableOf(reference));
      case 'url':
        return value.kind === 'scalar' ? address(String(value.value)) : variableOf(value);
      case 'args':
        return value.kind === 'list' ? argumentList(value.items) : mask;
      default:
        return harmless.has(key) ? plainValue(value) : mask;
    }
  });
}

function members(node: ValueNode, show: (key: string, value: ValueNode) => unknown): unknown {
  if (node.kind !== 'map') return isEmpty(node) ? null : mask;
  return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, show(key, value)]));
}

/** A reference keeps the name of its variable. */
function variableOf(node: ValueNode): unknown {
  const variable = node.kind === 'map' ? node.entries.get('env')?.value : undefined;
  if (variable?.kind !== 'scalar') return mask;
  return /^[A-Za-z_]\w*$/.test(String(variable.value)) ? { env: variable.value } : mask;
}

/** Keeps scheme and host, and what of the path does not look random. Credentials and the query go, because they carry keys. */
function address(url: string): string {
  if (!URL.canParse(url)) return mask;
  const { protocol, host, pathname, search } = new URL(url);
  const path = pathname
    .split('/')
    .map((part) => (looksRandom(part) ? mask : part))
    .join('/');
  return `${protocol}//${host}${path}${search === '' ? '' : `?${mask}`}`;
}

/** Masks the value of an option that is named like a secret, and whatever looks like one. */
function argumentList(items: readonly ValueNode[]): unknown[] {
  let secretNext = false;
  return items.map((item) => {
    if (item.kind !== 'scalar') return variableOf(item);
    const text = String(item.value);
    const isSecret = secretNext;
    const [, option, value] = /^(--?[\w.-]+)(?:=(.*))?$/s.exec(text) ?? [];
    secretNext = option !== undefined && value === undefined && secretOption.test(option);
    if (isSecret && option === undefined) return mask;
    if (option !== undefined && value !== undefined) {
      return secretOption.test(option) || looksRandom(value) ? `${option}=${mask}` : text;
    }
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return address(text);
    return looksRandom(text) || /[\w-]*(?:token|key|secret|passw)[\w-]*[=:]/i.test(text) ? mask : text;
  });
}

const secretOption = /token|key|secret|passw|auth|credential|header|cookie|session|^-[pkHu]$/i;

/** Says whether a text is long, mixes letters and digits, and is neither a path nor a package: nobody writes that by hand. */
function looksRandom(text: string): boolean {
  return /^[\w+=.~-]{16,}$/.test(text) && /\d/.test(text) && /[a-z]/i.test(text) && !/^[\w-]+\.[a-z]{1,4}$/i.test(text);
}
