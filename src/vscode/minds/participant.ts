/**
 * Connects the chat of `@minds` to the turn in `core/minds` (D1). The first question loads it (P1).
 */
import { said } from '../../core/base/language.js';
import { commaList } from '../../core/base/text.js';
import * as vscode from 'vscode';
import { randomUUID } from 'node:crypto';
import { code, inertLines, formatted } from '../../core/base/inert.js';
import {
  runTurn,
  type ModelSetup,
  type Permit,
  type TurnEnd,
  type TurnOutcome,
} from '../../core/minds/conversation.js';
import { filesIn, pastOf, recordOf, type Past, type PastTurn } from '../../core/minds/history.js';
import { instructionsOf } from '../../core/minds/instructions.js';
import type {
  ConversationMessage,
  ConversationModel,
  ConversationTool,
  ToolCall,
  ToolRunner,
} from '../../core/minds/model.js';
import { projectToolsForProvider } from '../../core/tools/projection.js';
import type { Member } from '../../core/team/team.js';
import type { Toolset } from '../../core/tools/catalogue.js';
import type { Speaker } from '../../core/calling/conversationTools.js';
import { untilReady, type EngineSlot } from '../engine/engineSlot.js';
import { maxSteps } from '../engine/settings.js';
import type { Shell } from '../engine/shell.js';
import type { CallPages } from '../views/calls/callsView.js';
import { inertStream, type InertStream } from '../views/inertEditor.js';
import { beginning } from '../views/phrases.js';
import { openDocument } from '../views/review/documents.js';
import type { ArtifactLinks } from './artifactLinks.js';
import { chatAudience, showFiles } from './chatAudience.js';
import {
  metadataOf,
  recordIn,
  release,
  showMembers,
  showServers,
  showTools,
} from './chatCommands.js';
import { chatModel } from './chatModel.js';
import type { ModelProblems } from './modelProblems.js';
import type { ChatQuestions } from './questions.js';
import type { TeamFiles } from './teamFiles.js';
import { reportEnd } from './turnEnds.js';

interface MindsDeps {
  readonly shell: Shell;
  readonly team: TeamFiles;
  readonly pages: CallPages;
  readonly artifacts: ArtifactLinks;
  readonly questions: ChatQuestions;
  readonly problems: ModelProblems;
}

/** `/as nobody` chooses no member of the team. */
const nobody = 'nobody';

export async function answer(
  deps: MindsDeps,
  request: vscode.ChatRequest,
  context: vscode.ChatContext,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<vscode.ChatResult> {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  const cancellation = token.onCancellationRequested(() => controller.abort());
  const exchange = new ChatExchange(
    deps,
    request,
    conversationOf(context),
    inertStream(stream),
    controller.signal,
  );
  return await exchange.answer().finally(() => cancellation.dispose());
}

/**
 * The stable API has no id of a conversation, so the metadata of each answer, stored with the chat,
 * has its name.
 */
function conversationOf({ history }: vscode.ChatContext): Past {
  const turns = history.flatMap((turn, index): PastTurn[] => {
    if (turn instanceof vscode.ChatRequestTurn) return [];
    const before = history[index - 1];
    const question = before instanceof vscode.ChatRequestTurn ? before.prompt : '';
    const texts = turn.response.map((part) =>
      part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : '',
    );
    return [
      {
        question,
        record: recordIn(turn.result),
        shown: texts.join('').trim(),
      },
    ];
  });
  return pastOf(turns);
}

class ChatExchange {
  private readonly conversation: string;
  /** The member who answers; undefined without one, and then every toolset counts. */
  private speaker: Speaker | undefined;
  private chose = false;

  constructor(
    private readonly deps: MindsDeps,
    private readonly request: vscode.ChatRequest,
    private readonly past: Past,
    private readonly stream: InertStream,
    private readonly signal: AbortSignal,
  ) {
    this.conversation = past.conversation ?? `minds-${randomUUID()}`;
  }

  private get slot(): EngineSlot {
    return this.deps.shell.slot;
  }

  private get tools() {
    return this.slot.engine?.conversationTools;
  }

  async answer(): Promise<vscode.ChatResult> {
    const { team, artifacts } = this.deps;
    const { slot, stream, conversation } = this;
    await team.whenRead(this.signal);
    this.speaker = this.speakerOf(this.past.member);
    const words = this.request.prompt.trim();
    switch (this.request.command) {
      case 'mcp':
        showServers(stream, slot.state, conversation);
        break;
      case 'tools':
        this.showTools();
        break;
      case 'reload':
        stream.progress(formatted`Reading the config files again …`);
        await slot.engine?.host.reload();
        showServers(stream, slot.state, conversation);
        break;
      case 'release':
        await release(stream, slot.engine, conversation, words);
        break;
      case 'files':
        showFiles(stream, artifacts, (await this.tools?.files(conversation)) ?? []);
        break;
      case 'as':
        return await this.as(words);
      case 'continue':
        return await this.proceed(words);
      default:
        return await this.asked(this.request.prompt);
    }
    return this.unchanged();
  }

  private async as(words: string): Promise<vscode.ChatResult> {
    const [, id = '', rest = ''] = /^@?(\S*)\s*([^]*)$/.exec(words) ?? [];
    const { members } = this.deps.team.view;
    const found =
      members.find((member) => member.id === id) ??
      members.find(({ name }) => id !== '' && name.toLowerCase() === id.toLowerCase());
    if (!found && id !== nobody) {
      showMembers(this.stream, members, id, this.speaker?.id);
      return this.unchanged();
    }
    this.speaker = found && speakerFrom(found);
    this.chose = true;
    if (rest !== '') return await this.asked(rest);
    this.stream.markdown(
      found
        ? formatted`${code(found.id)} answers in this conversation from now on.\n\n`
        : formatted`This conversation has all toolsets again.\n\n`,
    );
    await this.ready();
    this.showTools();
    return this.unchanged();
  }

  private async proceed(words: string): Promise<vscode.ChatResult> {
    if (words !== '') return await this.asked(words);
    const open = this.past.messages.at(-1);
    if (open)
      return await this.turn(open.kind === 'answer' ? [{ kind: 'user', text: 'Go on.' }] : []);
    this.stream.write`There is nothing to continue in this conversation. Ask something first.`;
    return this.unchanged();
  }

  private async asked(words: string): Promise<vscode.ChatResult> {
    const text = await questionOf(words, this.request, this.slot.toolsets);
    return await this.turn([{ kind: 'user', text }]);
  }

  private async turn(added: readonly ConversationMessage[]): Promise<vscode.ChatResult> {
    const { shell, pages, artifacts } = this.deps;
    const { stream, past, signal } = this;
    const messages = [...past.messages, ...added];
    const first = messages.find(({ kind }) => kind === 'user');
    if (first?.kind === 'user') shell.titles.note(this.conversation, first.text);
    const model = chatModel(this.request.model);
    await this.ready();
    if (!model.callsTools)
      stream.write`*${model.name} cannot call tools; it answers without them.*\n\n`;
    const files = filesIn(past.messages);
    const audience = chatAudience({
      stream,
      slot: shell.slot,
      pages,
      artifacts,
      files,
    });
    const outcome = await runTurn({
      model,
      messages,
      setup: () => this.setupFor(model),
      runner: this.tools?.runner(this.conversation, this.speaker) ?? noRunner,
      permit: (tool, call, over) => this.permit(tool, call, over),
      audience,
      clock: shell.clock,
      random: Math.random,
      maxSteps: maxSteps(),
      signal,
    });
    audience.end();
    const failure = this.reportEnd(outcome, model);
    const result = this.result([...added, ...outcome.messages], outcome.end.kind);
    return failure === undefined
      ? result
      : { ...result, errorDetails: { message: inertLines(failure) } };
  }

  private setupFor({ vendor }: ConversationModel): ModelSetup {
    const { tools, instructions } = this.setup();
    const projected = projectToolsForProvider(vendor, tools);
    this.deps.problems.foresee(projected);
    return { instructions, tools: projected.tools };
  }

  private async permit(
    tool: ConversationTool,
    call: ToolCall,
    signal: AbortSignal,
  ): Promise<Permit> {
    const { stream, conversation } = this;
    const permission = this.slot.engine?.host.permission;
    if (!permission) return { kind: 'refused', why: 'no MCP server runs in this window.' };
    return await this.deps.questions.ask({ permission, stream, conversation, tool, call }, signal);
  }

  private reportEnd(outcome: TurnOutcome, model: ConversationModel): string | undefined {
    const { problems, shell } = this.deps;
    const { stream, conversation } = this;
    const { toolsets, redact } = shell.slot;
    const log = shell.logs.host;
    return reportEnd(outcome, {
      stream,
      conversation,
      model,
      toolsets,
      problems,
      log,
      redact,
    });
  }

  private setup(): ModelSetup {
    const { tools, speaker } = this;
    if (tools) return tools.offer(this.conversation, speaker);
    const instructions = instructionsOf({
      member: speaker,
      toolsets: [],
      deferred: [],
      held: [],
      release: undefined,
    });
    return { tools: [], instructions };
  }

  private speakerOf(chosen: string | undefined): Speaker | undefined {
    const { members, spokesperson } = this.deps.team.view;
    if (chosen === nobody) return undefined;
    const member = chosen === undefined ? spokesperson : members.find(({ id }) => id === chosen);
    if (member) return speakerFrom(member);
    if (chosen === undefined) return undefined;
    // A member with some toolsets must not get the others by leaving the team.
    if (this.request.command !== 'as') {
      this.stream
        .write`*${code(chosen)} is no longer in the team and has no tools. \`/as\` chooses who answers.*\n\n`;
    }
    return {
      id: chosen,
      name: chosen,
      purpose: undefined,
      grants: [],
    };
  }

  private showTools(): void {
    showTools(this.stream, this.setup(), this.slot.state, code(this.speaker?.id ?? '@minds'));
  }

  private async ready(): Promise<void> {
    await untilReady(this.slot, this.deps.shell.clock, this.signal, (starting) =>
      this.stream.progress(
        formatted`Waiting for ${commaList(starting, said) || said`the config files`} …`,
      ),
    );
  }

  private unchanged(): vscode.ChatResult {
    return this.result([], this.past.end ?? 'answered');
  }

  private result(
    messages: readonly ConversationMessage[],
    end: TurnEnd['kind'],
  ): vscode.ChatResult {
    // Without a choice, the member stays open, because the team may get another spokesperson.
    const member =
      this.chose || this.past.member !== undefined ? (this.speaker?.id ?? nobody) : undefined;
    const { conversation } = this;
    return { metadata: metadataOf(recordOf({ conversation, member, messages, end })) };
  }
}

const noRunner: ToolRunner = { run: () => Promise.reject(new Error('no engine')) };

function speakerFrom({ id, name, purpose, grants }: Member): Speaker {
  return {
    id,
    name,
    purpose,
    grants: grants.map(({ grant }) => grant),
  };
}

const longestAttachment = 60_000;

/** The editor adds these to every question. They describe the tools of the editor's agent. */
const ofTheEditor = /^vscode\.customizations\b/;

/** @param words the prompt without a command */
async function questionOf(
  words: string,
  { references, toolReferences }: vscode.ChatRequest,
  toolsets: readonly Toolset[],
): Promise<string> {
  const attached = await Promise.all(
    references.filter(({ id }) => !ofTheEditor.test(id)).map(textOf),
  );
  const tools = toolsets.flatMap((toolset) => toolset.tools);
  const named = toolReferences.flatMap(
    ({ name }) =>
      tools.find(({ editorId, published }) => editorId === name || published === name)?.published ??
      [],
  );
  const hint = named.length > 0 ? [`Use these tools: ${named.join(', ')}.`] : [];
  return [words, ...hint, ...attached.filter((text) => text !== '')].join('\n\n');
}

async function textOf({ value, modelDescription }: vscode.ChatPromptReference): Promise<string> {
  const about = modelDescription === undefined ? '' : ` (${modelDescription})`;
  if (typeof value === 'string') return `Attached${about}:\n${beginning(value, longestAttachment)}`;
  const { uri, range } =
    value instanceof vscode.Uri ? { uri: value } : value instanceof vscode.Location ? value : {};
  if (!uri) return about === '' ? '' : `Attached${about}, in a form that cannot be read here.`;
  const lines = range ? `, lines ${range.start.line + 1} to ${range.end.line + 1}` : '';
  const name = `${vscode.workspace.asRelativePath(uri)}${lines}`;
  try {
    const text = beginning((await openDocument(uri)).getText(range), longestAttachment);
    return `Attached${about}: ${name}\n\`\`\`\n${text}\n\`\`\``;
  } catch {
    return `Attached${about}: ${name}, which cannot be read as text.`;
  }
}
