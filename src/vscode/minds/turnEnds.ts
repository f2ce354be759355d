/** Reports the end of a turn in the chat, in the Problems view and in the log (D4). */
import { said } from '../../core/base/language.js';
import { inert } from '../../core/base/inert.js';
import type { Log } from '../../core/base/log.js';
import type { TurnEnd, TurnOutcome } from '../../core/minds/conversation.js';
import type { ConversationModel } from '../../core/minds/model.js';
import type { Toolset } from '../../core/tools/catalogue.js';
import type { InertStream } from '../views/inertEditor.js';
import { shortLine } from '../views/phrases.js';
import type { ModelProblems } from './modelProblems.js';

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
export function reportEnd({ end, messages }: TurnOutcome, deps: TurnEndDeps): string | undefined {
  const { stream, model, problems, conversation } = deps;
  if (end.kind !== 'stopped') problems.continued(conversation);
  if (end.kind === 'answered' && messages.length === 0)
    stream.write`*${model.name} gave no answer.*`;
  if (end.kind === 'stepLimit') {
    stream.write`\n\n*@minds stopped after ${end.steps} requests, the limit that \`mcpToolsets.minds.maxSteps\` sets.*\n\n`;
  }
  if (end.kind === 'stepLimit' || end.kind === 'stopped')
    stream.button({ command: 'mcpToolsets.minds.continue', title: inert`Continue` });
  return end.kind === 'stopped' ? reportStop(end, deps) : undefined;
}

function reportStop(end: Extract<TurnEnd, { kind: 'stopped' }>, deps: TurnEndDeps): string {
  const { conversation, model, toolsets, problems, log, redact } = deps;
  const { vendor, name } = model;
  const { why, tool } = end;
  const text = shortLine(redact(why.text));
  log.write(
    'warn',
    `Conversation ${conversation} stopped (${why.kind}): ${vendor}/${name}: ${text}`,
  );
  if (why.kind === 'unavailable')
    return said`${name} cannot be used: ${text}. Choose another model, or sign in.`;
  if (why.kind === 'exhausted')
    return said`The provider "${vendor}" of ${name} did not answer, after ${why.attempts} attempts: ${text}.`;
  const toolset = toolsets.find(({ tools }) =>
    tools.some(({ published }) => published === tool),
  )?.id;
  problems.refused({
    conversation,
    vendor,
    model: name,
    end,
    toolset,
    text,
  });
  const what =
    tool === undefined ? said`the request` : said`the request because of the tool ${tool}`;
  return why.kind === 'rejected'
    ? said`The provider "${vendor}" of ${name} refused ${what}: ${text}. It is not sent again automatically.`
    : said`The provider "${vendor}" of ${name} failed at ${what}: ${text}. It is not sent again automatically.`;
}
