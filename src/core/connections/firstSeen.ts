/**
 * Gives every list of a server the order in which the server first listed its tools, and the keys
 * of each tool (N6). A tool with another canonical form has its own keys again, and keeps its place
 * in the list.
 */
import { groupedBy } from '../base/groupedBy.js';
import { inTurns, type Sliced } from '../base/turns.js';
import type { ServerDefinition } from '../config/model.js';
import { capabilitiesKey, type Fields } from '../protocol/client.js';
import type { OfferedTool, ToolListing } from '../tools/catalogue.js';
import { inOrder, seenTool, type SeenTool } from '../tools/seenTool.js';
import type { Connection } from './connection.js';

/**
 * The limit for each server, in characters. Servers write names and keys, and none is forgotten
 * before.
 */
const mostKept = 4 * 1024 * 1024;

/** The last list of an earlier host: the tools, if they are kept, and their order. */
interface Recalled {
  readonly tools: readonly OfferedTool[];
  readonly seen: readonly SeenTool[];
}

export class FirstSeen {
  private readonly servers = new Map<string, SeenLists>();

  constructor(
    private readonly recall: (definition: ServerDefinition, declared: string) => Recalled,
  ) {}

  async inOrder(
    { tools, ...rest }: ToolListing,
    { share }: Pick<Connection, 'share'>,
    definition: ServerDefinition,
    declared: Fields,
  ): Promise<ToolListing> {
    const known = this.servers.get(definition.id);
    const isKept =
      known &&
      known.size <= mostKept &&
      (known.launch === definition.launchHash || known.isOf(tools));
    const lists = isKept ? known : new SeenLists();
    lists.launch = definition.launchHash;
    this.servers.set(definition.id, lists);
    const recalled = this.recall(definition, capabilitiesKey(declared));
    return {
      ...rest,
      tools: await inTurns(lists.inOrder(tools, recalled), share),
    };
  }
}

class SeenLists {
  size = 0;
  launch = '';
  /** By canonical form. */
  private readonly orders = new Map<string, string>();
  /**
   * By the name before it. Names that are gone stay, because conversations may be offered different
   * tools.
   */
  private readonly next = new Map<string, string | undefined>();

  /** True if it has seen these names and no others. */
  isOf(tools: readonly OfferedTool[]): boolean {
    return tools.length === this.next.size - 1 && tools.every(({ name }) => this.next.has(name));
  }

  *inOrder(tools: readonly OfferedTool[], recalled: Recalled): Sliced<OfferedTool[]> {
    for (const seen of [seenIn(recalled.tools), recalled.seen, seenIn(tools)])
      yield* this.remember(seen);
    const made: OfferedTool[] = [];
    const byName = groupedBy(tools, ({ name }) => name);
    for (let name = this.next.get(''); name !== undefined; name = this.next.get(name)) {
      for (const tool of byName.get(name) ?? []) {
        const [, form, order] = seenTool(tool);
        const first = this.orders.get(form) ?? order;
        made.push(first === order ? tool : inOrder(tool, first));
      }
      yield;
    }
    return made;
  }

  /** A new name comes behind the name that the list has before it. */
  private *remember(seen: Iterable<SeenTool>): Sliced<void> {
    let before = '';
    for (const [name, form, order] of seen) {
      if (!this.orders.has(form)) {
        this.orders.set(form, order);
        this.size += name.length + order.length;
      }
      if (!this.next.has(name)) {
        this.next.set(name, this.next.get(before));
        this.next.set(before, name);
      }
      before = name;
      yield;
    }
  }
}

function* seenIn(tools: readonly OfferedTool[]): Generator<SeenTool> {
  for (const tool of tools) yield seenTool(tool);
}
