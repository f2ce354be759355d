/** Reports the end of a turn in the chat, in the Problems view and in the log (D4). */
import { assertNever } from '../../core/base/assertNever.js';
import { inert, formatted } from '../../core/base/inert.js';
import type { Log } from '../../core/base/log.js';
import type { TurnEnd, TurnOutcome } from '../../core/minds/conversation.js';
import type { ConversationModel } from '../../core/minds/model.js';
import type { Toolset } from '../../core/tools/catalogue.js';
import type { InertStream } from '../views/inertEditor.js';
import { shortLine } from '../views/phrases.js';
import type { ModelProblems } from './modelProblems.js';

const proceed = { command: 'mcpToolsets.minds.continue', title: inert`Continue` };

interface TurnEndDeps {
  readonly stream: InertStream;
  readonly conversation: string;
  readonly model: ConversationModel;
  readonly toolsets: readonly Toolset[];
  readonly problems: ModelProblems;
  readonly log: Log;
  readonly redact: (text: string) => string;
}

/** Returns the text of the error, if there was one. */
export function tellEnd({ end, messages }: TurnOutcome, deps: TurnEndDeps): string | undefined {
  const { stream, model, problems, conversation } = deps;
  if (end.kind !== 'stopped') problems.goesOn(conversation);
  switch (end.kind) {
    case 'answered':
      if (messages.length === 0) stream.markdown(formatted`*${model.name} gave no answer.*`);
      return undefined;
    case 'cancelled':
      return undefined;
    case 'stepLimit':
      stream.markdown(
        formatted`\n\n*@minds stopped after ${end.steps} requests, the limit that \`mcpToolsets.minds.maxSteps\` sets.*\n\n`,
      );
      stream.button(proceed);
      return undefined;
    case 'stopped':
      stream.button(proceed);
      return tellStop(end, deps);
    default:
      return assertNever(end);
  }
}

function tellStop(end: Extract<TurnEnd, { kind: 'stopped' }>, deps: TurnEndDeps): string {
  const { conversation, model, toolsets, problems, log, redact } = deps;
  const { vendor, name } = model;
  const text = shortLine(redact(end.why.text));
  log.write('warn', `Conversation ${conversation} stopped (${end.why.kind}): ${vendor}/${name}: ${text}`);
  switch (end.why.kind) {
    case 'rejected':
    case 'unknown': {
      const toolset = toolsets.find(({ tools }) => tools.some(({ published }) => published === end.tool))?.id;
      problems.refused({ conversation, vendor, model: name, end, toolset, text });
      const about = end.tool === undefined ? '' : ` because of the tool ${end.tool}`;
      const did = end.why.kind === 'rejected' ? 'refused the request' : 'failed at the request';
      return `The provider "${vendor}" of ${name} ${did}${about}: ${text}. It is not sent again automatically.`;
    }
    case 'unavailable':
      return `${name} cannot be used: ${text}. Choose another model, or sign in.`;
    case 'exhausted':
      return `The provider "${vendor}" of ${name} did not answer, after ${end.why.attempts} attempts: ${text}.`;
    default:
      return assertNever(end.why);
  }
}
