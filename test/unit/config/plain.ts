/** A YAML text as plain values, aliases and merges resolved. */
import { readYaml, type YamlNode } from '../../../src/core/yaml/yamlTree.js';

export function plain(text: string): unknown {
  const { faults, root } = readYaml(text);
  if (faults.length > 0) throw new Error(`Not YAML: ${JSON.stringify(faults)}\n${text}`);
  return plainNode(root);
}

export function plainNode(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainNode);
  return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plainNode(value)]));
}
