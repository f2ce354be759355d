/**
 * Reports refusals of model providers (D3, D4): one problem for each stopped conversation and each
 * doubtful tool.
 */
import { english } from '../../core/base/language.js';
import type { Place, Problem } from '../../core/base/problem.js';
import type { TurnEnd } from '../../core/minds/conversation.js';
import type { ConversationTool } from '../../core/minds/model.js';
import type { projectToolsForProvider } from '../../core/tools/projection.js';
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

type Forecast = ReturnType<typeof projectToolsForProvider<ConversationTool>>;

export class ModelProblems {
  private readonly refusals = new Map<string, Refusal>();
  private forecast: Forecast | undefined;

  constructor(private readonly onChange: () => void) {}

  refused(refusal: Refusal): void {
    this.refusals.set(refusal.conversation, refusal);
    this.onChange();
  }

  continued(conversation: string): void {
    if (this.refusals.delete(conversation)) this.onChange();
  }

  foresee(forecast: Forecast): void {
    const hasProblems = forecast.problems.length > 0;
    if (!this.forecast && !hasProblems) return;
    this.forecast = hasProblems ? forecast : undefined;
    this.onChange();
  }

  problems(
    toolsets: readonly Toolset[],
    placeOf: (server: string | undefined) => Place | undefined,
  ): Problem[] {
    const refused = [...this.refusals.values()].map(rejected);
    const all = this.forecast ? [...refused, ...doubts(this.forecast)] : refused;
    return all.flatMap(({ aboutTool, ...problem }) => {
      const { server } = problem;
      const place = placeOf(server);
      if (!place) return [];
      if (server === undefined || aboutTool === undefined) return { ...problem, place };
      // A problem about a tool is over when the tool is gone.
      const tools = toolsets.find(({ id }) => id === server)?.tools ?? [];
      const isThere = tools.some(({ published }) => published === aboutTool);
      return isThere ? { ...problem, place } : [];
    });
  }
}

type ModelProblem = Omit<Problem, 'place'> & { readonly aboutTool: string | undefined };

function rejected({ conversation, vendor, model, end, toolset, text }: Refusal): ModelProblem {
  const { tool, why } = end;
  const where =
    tool === undefined
      ? english`conversation "${conversation}"`
      : english`conversation "${conversation}" because of the tool "${tool}"`;
  return {
    code: 'model-rejected',
    severity: 'error',
    message:
      why.kind === 'rejected'
        ? english`The provider "${vendor}" of ${model} refused a request of ${where}: ${text}`
        : english`The provider "${vendor}" of ${model} failed at a request of ${where}: ${text}`,
    fix:
      tool === undefined
        ? english`Keep tools out with \`tools.blacklist\`, grant the member fewer toolsets, or choose another model. Then write “@minds /continue” in that conversation.`
        : english`Keep the tool out with \`tools.blacklist\`, get its server fixed, or choose another model. Then write “@minds /continue” in that conversation.`,
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
      message: english`${message} The request was sent anyway.`,
      fix: english`If the provider refuses it, keep the tool out with \`tools.blacklist\`, or choose another model.`,
      aboutTool: tool,
      ...(server !== undefined && { server }),
    };
  });
}
