/**
 * Writes the current instructions for a whole conversation: the member, the toolsets, the held
 * instances (L3).
 */

export interface ConversationContext {
  readonly member:
    | {
        readonly id: string;
        readonly name: string;
        readonly purpose: string | undefined;
      }
    | undefined;
  /** The granted toolsets with tools. */
  readonly toolsets: readonly { readonly id: string; readonly instructions: string | undefined }[];
  /** The granted toolsets without tools now; `why` completes "its server is …". */
  readonly deferred: readonly { readonly id: string; readonly why: string }[];
  readonly held: readonly string[];
  readonly release: string | undefined;
}

export function instructionsOf(context: ConversationContext): string {
  const { member, toolsets, deferred } = context;
  const parts = [
    member
      ? `You are ${member.name}${member.name === member.id ? '' : ` (${member.id})`}, a member of the team that works in this workspace.${member.purpose === undefined ? '' : ` You are there for: ${member.purpose}`}`
      : 'You are an assistant in a code editor, for the person who works in this workspace.',
    'Use the offered tools if they help, and call several at once if they do not depend on each other. Say what you did and found in Markdown. If a tool fails, read its error before you try again. If a result names a file that it saved, you can link to it or show it: `[name](path)`, `![what it shows](path)`.',
    ...toolsets.flatMap(({ id, instructions }) =>
      instructions === undefined || instructions.trim() === ''
        ? []
        : [`About the toolset "${id}":\n${instructions}`],
    ),
    ...deferred.map(
      ({ id, why }) =>
        `The toolset "${id}" is yours too, but has no tools now: its server is ${why}.`,
    ),
    ...reminderOf(context),
  ];
  return parts.join('\n\n');
}

function reminderOf({ held, release }: ConversationContext): string[] {
  if (held.length === 0) return [];
  const names = held.map((id) => `"${id}"`).join(', ');
  const holds = `[MCP Toolsets] This conversation has its own instance of ${names}, which keeps its state between calls.`;
  if (release === undefined)
    return [`${holds} It ends when it is idle for a while, or when the person releases it.`];
  const calls = held.map((id) => `${release}({"serverId":"${id}"})`).join(', ');
  return [`${holds} Call ${calls} when you will not need it again soon.`];
}
