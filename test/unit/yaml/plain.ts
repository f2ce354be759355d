/** A YAML text as plain values, aliases and merges resolved. */
import { readYaml } from '../../../src/core/yaml/yamlTree.js';
import { plainValue } from '../../../src/core/yaml/valueNodes.js';

export function plain(text: string): unknown {
  const { errors, root } = readYaml(text);
  if (errors.length > 0) throw new Error(`Not YAML: ${JSON.stringify(errors)}\n${text}`);
  return plainValue(root);
}
