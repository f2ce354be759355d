/**
 * Asks in the chat before a call (S4). The stable API has no such question, so it shows buttons.
 * The end of a turn is a no.
 */
import { bothEnds, code, fenced, inert, formatted, type Inert } from '../../core/base/inert.js';
import { commands, tell, type InertStream } from '../views/inertEditor.js';
import type { Disposable } from '../../core/base/disposables.js';
import { OneByOne } from '../../core/base/oneByOne.js';
import type { Permit } from '../../core/minds/conversation.js';
import type { ConversationTool, ToolCall } from '../../core/minds/model.js';
import type { Host } from '../../core/calling/hostContract.js';
import type { CallAnswer } from '../../core/calling/permission.js';

const answers = ['once', 'inConversation', 'no', 'show'] as const;
type Answer = (typeof answers)[number];

/** The visible columns of code in a chat of the smallest width. */
const chatWidth = 32;

interface ChatQuestion {
  readonly permission: Host['permission'];
  readonly stream: InertStream;
  readonly conversation: string;
  readonly tool: ConversationTool;
  readonly call: ToolCall;
}

const allowed: Permit = { kind: 'allowed' };

/** The host refuses arguments that the file does not allow, and says why. */
function isNeeded(question: ChatQuestion): boolean {
  const { permission, conversation, tool } = question;
  const sent = sentBy(question);
  return sent !== undefined && permission.isAskedInChat(conversation, tool, sent);
}

function sentBy({ tool, call }: ChatQuestion): ToolCall['input'] | undefined {
  return tool.sends ? tool.sends(call.input) : call.input;
}

export class ChatQuestions implements Disposable {
  private readonly open = new Map<string, (answer: Answer) => void>();
  private last = 0;
  /**
   * One question at a time for each conversation, because the calls of an answer arrive together.
   */
  private readonly queue = new OneByOne();
  private readonly command = commands({
    'minds.answer': (id, answer) => {
      const resolve = typeof id === 'string' ? this.open.get(id) : undefined;
      const given = answers.find((one) => one === answer);
      if (resolve && given) resolve(given);
      else tell(inert`This question was already answered, or its turn has ended.`);
    },
  });

  async ask(question: ChatQuestion, signal: AbortSignal): Promise<Permit> {
    if (!isNeeded(question)) return allowed;
    return await this.queue.add(question.conversation, () => this.askNow(question, signal));
  }

  private async askNow(question: ChatQuestion, signal: AbortSignal): Promise<Permit> {
    const { permission, stream, conversation, tool } = question;
    // The answer to the last question may count for all calls of the tool.
    if (!isNeeded(question)) return allowed;
    if (signal.aborted) return refused(tool);
    const sent = sentBy(question);
    if (sent === undefined) return allowed;
    const id = String(++this.last);
    const input = bothEnds(JSON.stringify(sent, undefined, 2), chatWidth);
    const { toolset, name, annotations } = tool;
    const { CallReview, fitsQuestion } = await import('../consent/callQuestion.js');
    if (signal.aborted) return refused(tool);
    const review = fitsQuestion(input)
      ? undefined
      : new CallReview({
          toolset,
          tool: name,
          title: annotations?.title,
          arguments: sent,
        });
    show(stream, id, tool, review ? undefined : input);
    const clicked = new Promise<CallAnswer>((resolve) => {
      this.open.set(id, (answer) => (answer === 'show' ? void review?.show() : resolve(answer)));
      signal.addEventListener('abort', () => resolve('no'), { once: true });
    });
    void review?.show();
    const answer = await (review?.answer(clicked) ?? clicked);
    review?.dispose();
    this.open.delete(id);
    if (answer === 'inConversation') permission.allowInChat(conversation, tool, sent);
    return answer === 'no' ? refused(tool) : allowed;
  }

  dispose(): void {
    for (const resolve of this.open.values()) resolve('no');
    this.command.dispose();
  }
}

/** @param input undefined if a document shows it */
function show(
  stream: InertStream,
  id: string,
  tool: ConversationTool,
  input: string | undefined,
): void {
  const given =
    input === undefined
      ? formatted`The open document shows all of the input.`
      : fenced(input, 'json');
  stream.write`\n\nCall ${code(tool.name)} of ${code(tool.toolset)}?`;
  if (tool.annotations?.destructiveHint === true)
    stream.write` Its server says that it may destroy data.`;
  stream.write`\n\n${given}\n\n`;
  const button = (title: Inert, answer: Answer): void => {
    stream.button({
      command: 'mcpToolsets.minds.answer',
      title,
      arguments: [id, answer],
    });
  };
  if (input === undefined) button(inert`Show Input`, 'show');
  button(inert`Allow`, 'once');
  button(inert`Allow in This Conversation`, 'inConversation');
  button(inert`Do Not Allow`, 'no');
}

function refused({ name }: ConversationTool): Permit {
  return {
    kind: 'refused',
    why: `the person did not allow the call of "${name}". Do not call it again unless you are asked to.`,
  };
}
