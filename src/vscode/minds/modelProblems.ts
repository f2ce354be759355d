/** Reports refusals of model providers (D3, D4): one problem for each stopped conversation and each doubtful tool. */
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

interface Forecast {
  readonly vendor: string;
  readonly tools: readonly ConversationTool[];
  readonly problems: readonly ProjectionProblem[];
}

type PlaceOf = (server: string | undefined) => Place | undefined;

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

  /** Returns the present problems. Without a config file, only the chat reports them. */
  problems(toolsets: readonly Toolset[], placeOf: PlaceOf): Problem[] {
    const isThere = (toolset: string, tool: string): boolean =>
      toolsets.some(({ id, tools }) => id === toolset && tools.some(({ published }) => published === tool));
    const refusals = [...this.refusals.values()].flatMap((refusal): Problem[] => {
      const { toolset, end } = refusal;
      if (toolset !== undefined && end.tool !== undefined && !isThere(toolset, end.tool)) return [];
      const place = placeOf(toolset) ?? placeOf(undefined);
      return place ? [rejected(refusal, place)] : [];
    });
    const forecasts = (this.forecast?.problems ?? []).flatMap(({ tool, message }): Problem[] => {
      const toolset = this.forecast?.tools.find(({ name }) => name === tool)?.toolset;
      if (tool !== undefined && (toolset === undefined || !isThere(toolset, tool))) return [];
      const place = placeOf(toolset) ?? placeOf(undefined);
      return place ? [mayRefuse(toolset, message, place)] : [];
    });
    return [...refusals, ...forecasts];
  }
}

function rejected({ conversation, vendor, model, end, toolset, text }: Refusal, place: Place): Problem {
  const about = end.tool === undefined ? '' : ` because of the tool "${end.tool}"`;
  const what =
    end.tool === undefined
      ? 'Keep tools out with `tools.blacklist`, grant the member fewer toolsets, or choose another model'
      : `Keep the tool out with \`tools.blacklist\`, get its server fixed, or choose another model`;
  return {
    code: 'model-rejected',
    severity: 'error',
    message: `The provider "${vendor}" of ${model} ${end.why.kind === 'rejected' ? 'refused' : 'failed at'} a request of conversation "${conversation}"${about}: ${text}`,
    fix: `${what}. Then write “@minds /continue” in that conversation.`,
    place,
    ...(toolset !== undefined && { server: toolset }),
  };
}

function mayRefuse(toolset: string | undefined, message: string, place: Place): Problem {
  return {
    code: 'model-may-refuse',
    severity: 'information',
    message: `${message} The request was sent anyway.`,
    fix: 'If the provider refuses it, keep the tool out with `tools.blacklist`, or choose another model.',
    place,
    ...(toolset !== undefined && { server: toolset }),
  };
}
