/**
 * Connects the chat of `@minds` to the turn in `core/minds` (D1). The first question loads it (P1).
 */
import * as vscode from 'vscode';
import { randomUUID } from 'node:crypto';
import { code, inertLines, formatted } from '../../core/base/inert.js';
import { runTurn, type ModelSetup, type TurnEnd } from '../../core/minds/conversation.js';
import { filesIn, pastOf, recordOf, type Past, type PastTurn } from '../../core/minds/history.js';
import { instructionsOf } from '../../core/minds/instructions.js';
import type { ConversationMessage } from '../../core/minds/model.js';
import { projectToolsForProvider } from '../../core/minds/projection.js';
import type { Member } from '../../core/team/team.js';
import type { Toolset } from '../../core/tools/catalogue.js';
import type { Speaker } from '../../core/host/conversationTools.js';
import { untilReady } from '../engine/engineSlot.js';
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
import { tellEnd } from './turnEnds.js';

interface MindsDeps extends Shell {
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
    return [{ question, record: recordIn(turn.result), shown: texts.join('').trim() }];
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

  async answer(): Promise<vscode.ChatResult> {
    const { slot, team, artifacts } = this.deps;
    const { stream, conversation } = this;
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
        showFiles(
          stream,
          artifacts,
          (await slot.engine?.conversationTools.files(conversation)) ?? [],
        );
        break;
      case 'as':
        return await this.as(words);
      case 'continue':
        return await this.goOn(words);
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

  private async goOn(words: string): Promise<vscode.ChatResult> {
    if (words !== '') return await this.asked(words);
    const open = this.past.messages.at(-1);
    if (open)
      return await this.turn(open.kind === 'answer' ? [{ kind: 'user', text: 'Go on.' }] : []);
    this.stream.markdown(
      formatted`There is nothing to continue in this conversation. Ask something first.`,
    );
    return this.unchanged();
  }

  private async asked(words: string): Promise<vscode.ChatResult> {
    return await this.turn([
      { kind: 'user', text: await questionOf(words, this.request, this.deps.slot.toolsets) },
    ]);
  }

  private async turn(added: readonly ConversationMessage[]): Promise<vscode.ChatResult> {
    const { slot, clock, logs, pages, artifacts, problems, questions, titles } = this.deps;
    const { stream, conversation, signal } = this;
    const { redact } = slot;
    const messages = [...this.past.messages, ...added];
    const first = messages.find(({ kind }) => kind === 'user');
    if (first?.kind === 'user') titles.note(conversation, first.text);
    const model = chatModel(this.request.model);
    await this.ready();
    if (!model.callsTools)
      stream.markdown(formatted`*${model.name} cannot call tools; it answers without them.*\n\n`);
    const pageOf = (record: string): vscode.Uri | undefined => {
      const fact = slot.engine?.recorder.latestFact(record);
      return fact && pages.of(fact);
    };
    const audience = chatAudience({
      stream,
      pageOf,
      artifacts,
      files: filesIn(this.past.messages),
      redact,
    });
    const outcome = await runTurn({
      model,
      messages,
      setup: () => {
        const setup = this.setup();
        const projected = projectToolsForProvider(model.vendor, setup.tools);
        problems.sent(projected);
        return { ...setup, tools: projected.tools };
      },
      runner: slot.engine?.conversationTools.runner(conversation, this.speaker) ?? {
        run: () => Promise.reject(new Error('no engine')),
      },
      permit: async (tool, call, over) => {
        const permission = slot.engine?.host.permission;
        if (!permission) return { kind: 'refused', why: 'no MCP server runs in this window.' };
        return await questions.ask(permission, stream, conversation, tool, call, over);
      },
      audience,
      clock,
      random: Math.random,
      maxSteps: maxSteps(),
      signal,
    });
    audience.end();
    const { toolsets } = slot;
    const failure = tellEnd(outcome, {
      stream,
      conversation,
      model,
      toolsets,
      problems,
      log: logs.host,
      redact,
    });
    return {
      ...this.result([...added, ...outcome.messages], outcome.end.kind),
      ...(failure !== undefined && { errorDetails: { message: inertLines(failure) } }),
    };
  }

  private setup(): ModelSetup {
    const { speaker } = this;
    const tools = this.deps.slot.engine?.conversationTools;
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
      this.stream.markdown(
        formatted`*${code(chosen)} is no longer in the team and has no tools. \`/as\` chooses who answers.*\n\n`,
      );
    }
    return { id: chosen, name: chosen, purpose: undefined, grants: [] };
  }

  private showTools(): void {
    showTools(this.stream, this.setup(), this.deps.slot.state, code(this.speaker?.id ?? '@minds'));
  }

  private async ready(): Promise<void> {
    await untilReady(this.deps.slot, this.deps.clock, this.signal, (starting) =>
      this.stream.progress(formatted`Waiting for ${starting.join(', ') || 'the config files'} …`),
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
    return {
      metadata: metadataOf(
        recordOf({ conversation, ...(member !== undefined && { member }), messages, end }),
      ),
    };
  }
}

function speakerFrom({ id, name, purpose, grants }: Member): Speaker {
  return { id, name, purpose, grants: grants.map(({ grant }) => grant) };
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
