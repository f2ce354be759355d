/**
 * A config file as it may be shown to strangers, for a bug report: its structure, with every value that could be a secret
 * masked, and without comments. What is not known to be harmless is masked. Pure.
 */
import { readYaml, type YamlNode } from '../yaml/yamlTree.js';

const mask = '•••';

/** Undefined: the text cannot be read, and nothing of it can be told from a secret. */
export function redactedConfig(text: string): string | undefined {
  const { faults, root } = readYaml(text);
  return faults.length > 0 ? undefined : JSON.stringify(wholeFile(root), undefined, 2);
}

/** Keys of a server whose values say nothing of a person. */
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

/** Servers stand below a key, or, in files of other programs, at the top. */
function wholeFile(root: YamlNode): unknown {
  return members(root, (key, value) => {
    if (key === 'version') return value.kind === 'scalar' && typeof value.value === 'number' ? value.value : mask;
    return key === 'servers' || key === 'mcpServers' ? members(value, (_, server) => entry(server)) : entry(value);
  });
}

function entry(server: YamlNode): unknown {
  return members(server, (key, value) => {
    switch (key) {
      case 'env':
      case 'headers':
        return members(value, (_, reference) => variableOf(reference));
      case 'url':
        return value.kind === 'scalar' ? address(String(value.value)) : mask;
      case 'args':
        return value.kind === 'list' ? argumentList(value.items) : mask;
      default:
        return harmless.has(key) ? plain(value) : mask;
    }
  });
}

function members(node: YamlNode, show: (key: string, value: YamlNode) => unknown): unknown {
  if (node.kind !== 'map') return node.kind === 'scalar' && node.value === null ? null : mask;
  return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, show(key, value)]));
}

/** Of a reference the name of the variable stays. */
function variableOf(node: YamlNode): unknown {
  const variable = node.kind === 'map' ? node.entries.get('env')?.value : undefined;
  if (variable?.kind !== 'scalar') return mask;
  return /^[A-Za-z_]\w*$/.test(String(variable.value)) ? { env: variable.value } : mask;
}

function plain(node: YamlNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(plain);
    case 'map':
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plain(value)]));
  }
}

/** Scheme, host and path length; paths, queries and credentials carry keys. */
function address(url: string): string {
  if (!URL.canParse(url)) return mask;
  const { protocol, host, pathname, search } = new URL(url);
  const path = pathname
    .split('/')
    .map((part) => (looksRandom(part) ? mask : part))
    .join('/');
  return `${protocol}//${host}${path}${search === '' ? '' : `?${mask}`}`;
}

/** The value of an option that is named like a secret, and whatever looks like one. */
function argumentList(items: readonly YamlNode[]): unknown[] {
  let secretNext = false;
  return items.map((item) => {
    if (item.kind !== 'scalar') return mask;
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

/** Long, of letters and digits mixed, and not a path or a package: nobody writes that by hand. */
function looksRandom(text: string): boolean {
  return /^[\w+=.~-]{16,}$/.test(text) && /\d/.test(text) && /[a-z]/i.test(text) && !/^[\w-]+\.[a-z]{1,4}$/i.test(text);
}
