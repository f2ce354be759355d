/** Texts that are longer than an agent keeps (H1e). Each agent cuts them at the end. */
import { english } from '../base/language.js';
import type { Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import { shortList } from '../base/text.js';
import type { PublishedTool, Toolset } from './catalogue.js';
import type { At } from './problems.js';

/** In characters. Each agent has the source of its limits, and its version there. */
const agents = [
  // Since 2.1.84: https://github.com/anthropics/claude-code/issues/41593, and /81268 with 2.1.220.
  { agent: 'Claude Code', most: { instructions: 2_048, description: 2_048 } },
];

const mostNamed = 5;
const betweenParts = 2;

/** A part of the instructions of all toolsets, in their order. */
export interface ToldPart {
  readonly id: string;
  readonly text: string;
}

/**
 * The problem is at the toolset whose part is the first to be cut. One toolset alone is the matter
 * of `textsCut`. @param atOf undefined for a toolset of ours
 */
export function togetherCut(
  parts: readonly ToldPart[],
  atOf: (id: string) => At | undefined,
): Problem[] {
  const ids = new Set(parts.map(({ id }) => id));
  if (ids.size < 2) return [];
  const lengths = parts.map(({ text }) => text.length + betweenParts);
  const all = lengths.reduce((sum, length) => sum + length, -betweenParts);
  return agents.flatMap(({ agent, most }) => {
    let end = -betweenParts;
    const cut = parts.find((_, index) => {
      end += lengths[index] ?? 0;
      return end > most.instructions;
    });
    const at = cut && atOf(cut.id);
    return at ? [problemOf('text-cut:together', at, { agent, most: most.instructions, all })] : [];
  });
}

type Texts = Pick<Toolset, 'manual' | 'instructions'> & {
  readonly tools: readonly PublishedTool[];
};

export function textsCut(at: At, { manual, instructions, tools }: Texts): Problem[] {
  const all = [manual, instructions].filter((text) => text).join('\n\n').length;
  return agents.flatMap(({ agent, most }) => {
    const long = tools.flatMap(({ published, tool: { description = '' } }) =>
      description.length > most.description ? [`"${published}" (${description.length})`] : [],
    );
    const parts = [
      ...(all > most.instructions ? [english`its instructions (${all})`] : []),
      ...(long.length > 0 ? [english`the description of ${shortList(long, mostNamed)}`] : []),
    ];
    if (parts.length === 0) return [];
    const what = parts.reduce((before, part) => english`${before}, and ${part}`);
    const { instructions: kept } = most;
    return [problemOf('text-cut', at, { agent, most: kept, what })];
  });
}
