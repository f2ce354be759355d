/**
 * Makes a config file fit for a public bug report: comments go, and values are masked unless known
 * to be harmless.
 */
import { mask, withoutArgumentSecrets } from '../../base/secrets.js';
import { readYaml } from '../../yaml/yamlTree.js';
import { isEmpty, plainValue, valueIn, type ValueNode } from '../../yaml/valueNodes.js';

/** Returns undefined for an unreadable text, because any part of it may be a secret. */
export function redactedConfig(text: string): string | undefined {
  const { errors, root } = readYaml(text);
  return errors.length > 0 ? undefined : JSON.stringify(wholeFile(root), undefined, 2);
}

const switches = [
  'enabled',
  'stateless',
  'truely-stateless',
  'start',
  'spare',
  'transport',
  'type',
];
const settings = [
  'command',
  'cwd',
  'envFile',
  'tools',
  'transform',
  'timeouts',
  'prompts',
  'resources',
];
const harmless = new Set([...switches, ...settings]);

function wholeFile(root: ValueNode): unknown {
  return members(root, (key, value) => {
    if (key === 'version')
      return value.kind === 'scalar' && typeof value.value === 'number' ? value.value : mask;
    return key === 'servers' || key === 'mcpServers'
      ? members(value, (_, server) => entry(server))
      : entry(value);
  });
}

function entry(server: ValueNode): unknown {
  return members(server, (key, value) => {
    if (key === 'env' || key === 'headers')
      return members(value, (_, reference) => variableOf(reference));
    if (key === 'url')
      return value.kind === 'scalar' ? address(String(value.value)) : variableOf(value);
    if (key === 'args') return value.kind === 'list' ? argumentList(value.items) : mask;
    return harmless.has(key) ? plainValue(value) : mask;
  });
}

function members(node: ValueNode, show: (key: string, value: ValueNode) => unknown): unknown {
  if (node.kind !== 'map') return isEmpty(node) ? null : mask;
  return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, show(key, value)]));
}

function variableOf(node: ValueNode): unknown {
  const variable = valueIn(node, 'env');
  if (variable?.kind !== 'scalar') return mask;
  return /^[A-Za-z_]\w*$/.test(String(variable.value)) ? { env: variable.value } : mask;
}

/**
 * Keeps the scheme, the host and plain words of the path. Credentials and the query go, because
 * they carry keys.
 */
function address(url: string): string {
  if (!URL.canParse(url)) return mask;
  const { protocol, host, pathname, search } = new URL(url);
  const path = pathname.replace(/[^/]+/g, (part) =>
    /^[A-Za-z._@-]{0,40}$|^v?\d{1,4}$/.test(part) ? part : mask,
  );
  return `${protocol}//${host}${path}${search === '' ? '' : `?${mask}`}`;
}

function argumentList(items: readonly ValueNode[]): unknown[] {
  const texts = items.map((item) => (item.kind === 'scalar' ? String(item.value) : ''));
  const args = withoutArgumentSecrets(texts);
  return items.map((item, index) => {
    if (item.kind !== 'scalar') return variableOf(item);
    const text = args[index] ?? mask;
    return text === texts[index] && /^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(text)
      ? address(text)
      : text;
  });
}
