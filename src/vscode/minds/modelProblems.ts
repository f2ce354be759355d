/**
 * Reports refusals of model providers (D3, D4): one problem for each stopped conversation and each
 * doubtful tool.
 */
import type { Place, Problem } from '../../core/base/problem.js';
import type { TurnEnd } from '../../core/minds/conversation.js';
import type { ConversationTool } from '../../core/minds/model.js';
import type { ProjectionProblem } from '../../core/minds/projection.js';
import type { Toolset } from '../../core/tools/catalogue.js';

export interface Refusal {
  readonly conversation: string;
  readonly vendor: string;
  readonly model: string;
  readonly end: Extract<TurnEnd, { kind: 'stopped' }>;
  readonly toolset: string | undefined;
  /** The text of the error, free of secrets. */
  readonly text: string;
}

type Forecast = {
  readonly tools: readonly ConversationTool[];
  readonly problems: readonly ProjectionProblem[];
};

export class ModelProblems {
  private readonly refusals = new Map<string, Refusal>();
  private forecast: Forecast | undefined;

  constructor(private readonly onChange: () => void) {}

  refused(refusal: Refusal): void {
    this.refusals.set(refusal.conversation, refusal);
    this.onChange();
  }

  goesOn(conversation: string): void {
    if (this.refusals.delete(conversation)) this.onChange();
  }

  sent(forecast: Forecast): void {
    if (this.forecast === undefined && forecast.problems.length === 0) return;
    this.forecast = forecast.problems.length > 0 ? forecast : undefined;
    this.onChange();
  }

  problems(
    toolsets: readonly Toolset[],
    placeOf: (server: string | undefined) => Place | undefined,
  ): Problem[] {
    const isThere = (toolset: string, tool: string): boolean =>
      toolsets.some(
        ({ id, tools }) => id === toolset && tools.some(({ published }) => published === tool),
      );
    const all = [
      ...[...this.refusals.values()].map(rejected),
      ...(this.forecast ? doubts(this.forecast) : []),
    ];
    return all.flatMap(({ aboutTool, ...problem }) => {
      const { server } = problem;
      const place = placeOf(server);
      const isOver = server !== undefined && aboutTool !== undefined && !isThere(server, aboutTool);
      return place && !isOver ? [{ ...problem, place }] : [];
    });
  }
}

type ModelProblem = Omit<Problem, 'place'> & { readonly aboutTool: string | undefined };

function rejected({
  conversation,
  vendor,
  model,
  end: { tool, why },
  toolset,
  text,
}: Refusal): ModelProblem {
  const about = tool === undefined ? '' : ` because of the tool "${tool}"`;
  const [kept, or] =
    tool === undefined
      ? ['tools', 'grant the member fewer toolsets']
      : ['the tool', 'get its server fixed'];
  return {
    code: 'model-rejected',
    severity: 'error',
    message: `The provider "${vendor}" of ${model} ${why.kind === 'rejected' ? 'refused' : 'failed at'} a request of conversation "${conversation}"${about}: ${text}`,
    fix: `Keep ${kept} out with \`tools.blacklist\`, ${or}, or choose another model. Then write “@minds /continue” in that conversation.`,
    aboutTool: tool,
    ...(toolset !== undefined && { server: toolset }),
  };
}

function doubts({ problems, tools }: Forecast): ModelProblem[] {
  return problems.map(({ tool, message }) => {
    const server = tools.find(({ name }) => name === tool)?.toolset;
    return {
      code: 'model-may-refuse',
      severity: 'information',
      message: `${message} The request was sent anyway.`,
      fix: 'If the provider refuses it, keep the tool out with `tools.blacklist`, or choose another model.',
      aboutTool: tool,
      ...(server !== undefined && { server }),
    };
  });
}
