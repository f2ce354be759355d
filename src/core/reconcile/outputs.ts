/** Judges the results of one server by the output schemas of its tools (N7c). It changes none. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import { mostParts, Steps } from '../base/steps.js';
import { atOnce, inNextTurn, LoopShare } from '../base/turns.js';
import { rightStructure } from '../protocol/shapes.js';
import { taskIn } from '../protocol/versions.js';
import type { PublishedTool } from '../tools/catalogue.js';
import type { At } from '../tools/problems.js';
import { SchemaJudge } from '../tools/schemaJudge.js';

export class Outputs {
  /** The original names of the tools whose results do not fit. */
  private readonly broken = new Set<string>();

  constructor(private readonly onChange: () => void) {}

  /** Judges after the result has gone on. A long one is not judged, because nothing may wait (P10). */
  note({ original, tool: { outputSchema } }: PublishedTool, result: CallToolResult): void {
    if (!outputSchema || result.isError === true || this.broken.has(original)) return;
    if (taskIn(result) !== undefined || LoopShare.of(result)) return;
    inNextTurn(() => {
      const { structuredContent: given } = result;
      const judge = new SchemaJudge(outputSchema, new Steps(mostParts));
      const structure = atOnce(rightStructure(given, outputSchema));
      if (given !== undefined && judge.accepts(outputSchema, structure)) return;
      this.broken.add(original);
      this.onChange();
    });
  }

  problems(at: At): Problem[] {
    return [...this.broken].map((tool) => problemOf('output-schema-broken', at, { tool }));
  }
}
