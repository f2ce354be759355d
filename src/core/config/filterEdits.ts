/** Changes of a server's filter as minimal edits. No other server changes, also where servers share anchors. */
import { EditNodes, isEmptyValue, isMap, isSeq } from './editNodes.js';
import { appendItem, insertEntry, scalarText, valueEdit, type Edits } from './edits.js';
import { serverNodes, serverPair, sparingOthers } from './serverEdits.js';

/**
 * Keeps one tool from agents by the blacklist. Undefined where that would mean something else: a whitelist that names the
 * tool wins over the blacklist, and beside a blacklist it lets through what neither names (spec N2).
 * @param text without a byte order mark
 * @param tool its original name
 */
export function blacklistTool(text: string, server: string, tool: string): Edits {
  const nodes = EditNodes.read(text);
  const body = nodes && serverPair(nodes, server)?.pair.value;
  const whole = serverNodes(text)?.get(server);
  if (!nodes || !isMap(body) || !whole || tool.includes('*') || tool === '') return undefined;
  const filter = whole.get('tools');
  const whitelist = filter instanceof Map ? (filter.get('whitelist') as unknown) : undefined;
  if (Array.isArray(whitelist) && whitelist.length > 0) return undefined;
  const name = scalarText(tool);
  const tools = nodes.pairOf(body, 'tools');
  if (!tools) {
    // A filter that comes with a merge would be replaced, not added to.
    return filter === undefined
      ? sparingOthers(text, server, insertEntry(nodes, body, 'tools', `{ blacklist: [${name}] }`))
      : undefined;
  }
  if (isEmptyValue(tools.pair.value)) {
    return sparingOthers(text, server, valueEdit(nodes, tools, `{ blacklist: [${name}] }`));
  }
  if (!isMap(tools.pair.value)) return undefined;
  const blacklist = nodes.pairOf(tools.pair.value, 'blacklist');
  if (!blacklist) {
    const merged = filter instanceof Map && filter.has('blacklist');
    return merged
      ? undefined
      : sparingOthers(text, server, insertEntry(nodes, tools.pair.value, 'blacklist', `[${name}]`));
  }
  if (isEmptyValue(blacklist.pair.value)) return sparingOthers(text, server, valueEdit(nodes, blacklist, `[${name}]`));
  if (!isSeq(blacklist.pair.value)) return undefined;
  return sparingOthers(text, server, appendItem(nodes, blacklist.pair.value, name));
}
