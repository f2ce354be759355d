/**
 * Joins the prompts and resources of all toolsets into one list each (G6). The name of a prompt or a URI may be in
 * several toolsets. The earlier toolset keeps it, and the later one gets a problem.
 */
import type { OfferedPrompt, OfferedResource, OfferedTemplate, Toolset } from './catalogue.js';

type Part = Pick<Toolset, 'id' | 'prompts' | 'resources'>;

/** Names missing from the toolset `id` in the joined lists, because `holder` has them. */
interface Contested {
  readonly id: string;
  readonly holder: string;
  readonly names: readonly string[];
}

interface Together {
  readonly prompts: readonly OfferedPrompt[];
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  /** One entry for each pair of toolsets. */
  readonly contested: readonly Contested[];
}

export function joined(toolsets: readonly Part[]): Together {
  const contested = new Map<string, Contested & { names: string[] }>();
  const firsts = <T>(entriesOf: (toolset: Part) => readonly T[], nameOf: (entry: T) => string): T[] => {
    const held = new Map<string, { readonly id: string; readonly entry: T }>();
    for (const toolset of toolsets) {
      for (const entry of entriesOf(toolset)) {
        const name = nameOf(entry);
        const holder = held.get(name);
        if (!holder) held.set(name, { id: toolset.id, entry });
        else if (holder.id !== toolset.id) {
          const pair = JSON.stringify([toolset.id, holder.id]);
          const known = contested.get(pair) ?? { id: toolset.id, holder: holder.id, names: [] };
          known.names.push(name);
          contested.set(pair, known);
        }
      }
    }
    return [...held.values()].map(({ entry }) => entry);
  };
  const prompts = firsts(
    (toolset) => toolset.prompts.map(({ prompt, published }) => ({ ...prompt, name: published })),
    ({ name }) => name,
  );
  const resources = firsts(
    (toolset) => toolset.resources.resources,
    ({ uri }) => uri,
  );
  const templates = firsts(
    (toolset) => toolset.resources.templates,
    ({ uriTemplate }) => uriTemplate,
  );
  return { prompts, resources, templates, contested: [...contested.values()] };
}
