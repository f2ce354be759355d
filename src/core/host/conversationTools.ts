/** Joins the conversations of `@minds` to the host and to results, past the gateway. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { releaseTool } from './admin.js';
import { configuredToolsets } from './configuredToolsets.js';
import { appOf } from '../apps/toolMeta.js';
import { BoundedMap } from '../base/boundedMap.js';
import type { ModelSetup } from '../minds/conversation.js';
import { grantedOf, type Grant } from '../team/grants.js';
import type { Member } from '../team/team.js';
import { instructionsOf } from '../minds/instructions.js';
import type { ContentPart, ConversationTool, ToolResult, ToolRunner } from '../minds/model.js';
import type { Host } from './hostContract.js';
import { leaseNote, releaseByName } from './leaseNotes.js';
import type { ToolOutcome } from '../protocol/request.js';
import type { StatusSnapshot } from '../reconcile/status.js';
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

export function createConversationTools(host: Host, delivery: Delivery) {
  const apps = new BoundedMap<string, OpenedApp>(mostApps);
  const appIn = (outcome: ToolOutcome, app: Omit<OpenedApp, 'result'>): string | undefined => {
    if (outcome.kind !== 'result' || appOf(app.tool.tool) === undefined) return undefined;
    const name = randomUUID();
    apps.set(name, { ...app, result: outcome.result });
    return name;
  };
  const grantedTo = (speaker: Speaker | undefined) => {
    const { snapshot, catalogue } = host;
    const granted = grantedOf(speaker?.grants, configuredToolsets(snapshot, catalogue.toolsets));
    const toolsets = catalogue.toolsets.filter(({ id }) => granted.toolsets.includes(id));
    const tools = toolsets.flatMap((toolset) => toolsOf(toolset, host));
    // The instructions name it only if it is granted.
    const release = tools.some(({ name }) => name === releaseTool) ? releaseTool : undefined;
    return { snapshot, toolsets, tools, deferred: granted.deferred, release };
  };
  return {
    /** Returns the present offer. A conversation without a speaker has every tool. */
    offer: (conversation: string, speaker: Speaker | undefined): ModelSetup => {
      const { snapshot, toolsets, tools, deferred, release } = grantedTo(speaker);
      const held = heldBy(conversation, snapshot);
      return {
        tools,
        instructions: instructionsOf({ member: speaker, toolsets, deferred, held, release }),
      };
    },
    /** Runs calls. The chat has asked the person already if that was needed. */
    runner: (conversation: string, speaker: Speaker | undefined): ToolRunner => ({
      run: async (tool, call, signal, onProgress) => {
        const { toolset, name } = tool;
        const { input } = call;
        const tools = toolsetIn(host.catalogue, toolset)?.tools;
        const served = tools?.find(({ published }) => published === name);
        const seen = tool.sends?.(input);
        const asked = { toolset, tool: name, arguments: input, conversation, signal, onProgress };
        const outcome = await host.call({
          ...asked,
          consented: tool.original,
          agent: '@minds',
          ...(seen && { seen }),
        });
        const app =
          served && appIn(outcome, { toolset, tool: served, conversation, arguments: input });
        const opens = app !== undefined;
        const answer = await readable(
          outcome,
          tool,
          conversation,
          delivery,
          opens,
          () => grantedTo(speaker).release,
        );
        const record = outcome.kind === 'result' ? outcome.record : undefined;
        return {
          callId: call.id,
          tool: name,
          ...answer,
          ...(opens && { app }),
          ...(record && { record: record.id }),
        };
      },
    }),
    app: (name: string) => apps.get(name),
    files: (conversation: string) => delivery.filesOf(conversation),
  };
}

export function heldBy(conversation: string, snapshot: StatusSnapshot): string[] {
  return snapshot.servers
    .filter(({ instances }) =>
      instances.some(({ use }) => use.kind === 'leased' && use.conversation === conversation),
    )
    .map(({ id }) => id);
}

function toolsOf({ id, tools }: Toolset, host: Pick<Host, 'completed'>): ConversationTool[] {
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

async function readable(
  outcome: ToolOutcome,
  { toolset, name }: ConversationTool,
  conversation: string,
  delivery: Delivery,
  opens: boolean,
  release: () => string | undefined,
): Promise<Pick<ToolResult, 'parts' | 'isError' | 'files'>> {
  if (outcome.kind !== 'result') {
    const why = outcome.kind === 'error' ? outcome.message : 'the person cancelled the call.';
    return { parts: [{ kind: 'text', text: `Error: ${why}` }], isError: true };
  }
  const call = { server: toolset, tool: name, conversation };
  const { result, files } = await delivery.forConversation(outcome.result, call, opens);
  const tool = release();
  const advice = tool === undefined ? undefined : releaseByName(tool, toolset);
  const notes = outcome.news ? [leaseNote(toolset, outcome.news, advice)] : [];
  const received = withNotes(result, notes, true);
  outcome.record?.onWritten(received);
  const { content, structuredContent, isError } = received;
  const parts = content.flatMap(partOf);
  if (structuredContent !== undefined)
    parts.push({ kind: 'text', text: JSON.stringify(structuredContent) });
  return { parts, isError: isError === true, ...(files.length > 0 && { files }) };
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
