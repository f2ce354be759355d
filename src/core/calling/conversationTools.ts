/** Joins the conversations of `@minds` to the host and to results, past the gateway. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { releaseTool } from '../catalogue/admin.js';
import { configuredToolsets } from '../catalogue/configuredToolsets.js';
import { appOf } from '../apps/toolMeta.js';
import { BoundedMap } from '../base/boundedMap.js';
import type { ModelSetup } from '../minds/conversation.js';
import { grantedOf, type Grant } from '../team/grants.js';
import type { Member } from '../team/team.js';
import { instructionsOf } from '../minds/instructions.js';
import type { ContentPart, ConversationTool, ToolResult, ToolRunner } from '../minds/model.js';
import type { Calls, Published, Servers } from './hostContract.js';
import { leaseNote, releaseByName } from '../catalogue/leaseNotes.js';
import { policies } from '../protocol/clientPolicy.js';
import type { ToolOutcome } from '../protocol/request.js';
import type { StatusSnapshot } from '../reconcile/status.js';
import type { ArtifactOrigin } from '../results/artifacts.js';
import type { Delivery } from '../results/delivery.js';
import { withNotes } from '../results/forEditor.js';
import { toolsetIn, type ServedTool, type Toolset } from '../tools/catalogue.js';

export interface OpenedApp {
  readonly toolset: string;
  readonly tool: ServedTool;
  readonly conversation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: CallToolResult;
}

const mostApps = 32;

export interface Speaker extends Omit<Member, 'grants' | 'place'> {
  readonly grants: readonly Grant[];
}

interface Grants {
  readonly toolsets: readonly Toolset[];
  readonly tools: ConversationTool[];
  readonly deferred: ReturnType<typeof grantedOf>['deferred'];
  /** The release tool, if it is granted: the instructions name it only then. */
  readonly release: string | undefined;
}

export class ConversationTools {
  private readonly apps = new BoundedMap<string, OpenedApp>(mostApps);

  constructor(
    private readonly host: Published & Calls & Pick<Servers, 'snapshot'>,
    private readonly delivery: Delivery,
  ) {}

  /** Returns the present offer. A conversation without a speaker has every tool. */
  offer(conversation: string, speaker: Speaker | undefined): ModelSetup {
    const { toolsets, tools, deferred, release } = this.grantedTo(speaker);
    const held = heldBy(conversation, this.host.snapshot);
    const facts = {
      member: speaker,
      toolsets,
      deferred,
      held,
      release,
    };
    return { tools, instructions: instructionsOf(facts) };
  }

  /** Runs calls. The chat has asked the person already if that was needed. */
  runner(conversation: string, speaker: Speaker | undefined): ToolRunner {
    return {
      run: async (tool, call, signal, onProgress) => {
        const { toolset, name } = tool;
        const { input } = call;
        const served = toolsetIn(this.host.catalogue, toolset)?.tools.find(
          ({ published }) => published === name,
        );
        const seen = tool.sends?.(input);
        const outcome = await this.host.call({
          toolset,
          tool: name,
          arguments: input,
          conversation,
          signal,
          onProgress,
          consented: tool.original,
          policy: policies.minds,
          ...(seen && { seen }),
        });
        const app =
          served && this.appIn(outcome, { toolset, tool: served, conversation, arguments: input });
        const origin = { server: toolset, tool: name, conversation };
        const answer = await this.readable(outcome, origin, speaker, app !== undefined);
        const record = outcome.kind === 'result' ? outcome.record : undefined;
        return {
          callId: call.id,
          tool: name,
          ...answer,
          ...(app !== undefined && { app }),
          ...(record && { record: record.id }),
        };
      },
    };
  }

  app(name: string): OpenedApp | undefined {
    return this.apps.get(name);
  }

  files(conversation: string): ReturnType<Delivery['filesOf']> {
    return this.delivery.filesOf(conversation);
  }

  private appIn(outcome: ToolOutcome, app: Omit<OpenedApp, 'result'>): string | undefined {
    if (outcome.kind !== 'result' || appOf(app.tool.tool) === undefined) return undefined;
    const name = randomUUID();
    this.apps.set(name, { ...app, result: outcome.result });
    return name;
  }

  private grantedTo(speaker: Speaker | undefined): Grants {
    const { snapshot, catalogue } = this.host;
    const granted = grantedOf(speaker?.grants, configuredToolsets(snapshot, catalogue.toolsets));
    const toolsets = catalogue.toolsets.filter(({ id }) => granted.toolsets.includes(id));
    const tools = toolsets.flatMap((toolset) => toolsOf(toolset, this.host));
    const release = tools.some(({ name }) => name === releaseTool) ? releaseTool : undefined;
    return {
      toolsets,
      tools,
      deferred: granted.deferred,
      release,
    };
  }

  private async readable(
    outcome: ToolOutcome,
    origin: ArtifactOrigin,
    speaker: Speaker | undefined,
    opens: boolean,
  ): Promise<Pick<ToolResult, 'parts' | 'isError' | 'files'>> {
    if (outcome.kind !== 'result') {
      const why = outcome.kind === 'error' ? outcome.message : 'the person cancelled the call.';
      return { parts: [{ kind: 'text', text: `Error: ${why}` }], isError: true };
    }
    const { server } = origin;
    const { result, files } = await this.delivery.forConversation(outcome.result, origin, opens);
    const tool = this.grantedTo(speaker).release;
    const advice = tool === undefined ? undefined : releaseByName(tool, server);
    const notes = outcome.news ? [leaseNote(server, outcome.news, advice)] : [];
    const received = withNotes(result, notes, true);
    outcome.record?.onWritten(received);
    const { content, structuredContent, isError } = received;
    const parts = content.flatMap(partOf);
    if (structuredContent !== undefined)
      parts.push({ kind: 'text', text: JSON.stringify(structuredContent) });
    return { parts, isError: isError === true, ...(files.length > 0 && { files }) };
  }
}

export function heldBy(conversation: string, snapshot: StatusSnapshot): string[] {
  return snapshot.servers
    .filter(({ instances }) =>
      instances.some(({ use }) => use.kind === 'leased' && use.conversation === conversation),
    )
    .map(({ id }) => id);
}

function toolsOf({ id, tools }: Toolset, host: Calls): ConversationTool[] {
  return tools.map(({ original, published, tool, override }) => ({
    name: published,
    original,
    toolset: id,
    description: tool.description ?? tool.title ?? published,
    inputSchema: tool.inputSchema,
    ...(tool.annotations && { annotations: tool.annotations }),
    ...(override && {
      sends: (input) => {
        const found = host.completed(override, input);
        return found.kind === 'completed' ? (found.arguments ?? {}) : undefined;
      },
    }),
  }));
}

/** Returns the parts for models. Each link has a line of text beside it already. */
function partOf(part: ContentBlock): ContentPart[] {
  if (part.type === 'text') {
    const audience = part.annotations?.audience;
    if (audience && audience.length > 0 && !audience.includes('assistant')) return [];
    return [{ kind: 'text', text: part.text }];
  }
  return part.type === 'image'
    ? [{ kind: 'image', mimeType: part.mimeType, base64: part.data }]
    : [];
}
