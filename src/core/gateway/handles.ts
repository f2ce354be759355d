/**
 * Mints the handles by which a client of the modern era tells its conversations apart when nothing else does (G3): the
 * tools of a leased toolset take one as an argument, which is added to their schemas here and taken out before the
 * call.
 *
 * A handle is signed with a key that is made of the token: one that was not minted for this token is none, and nothing
 * has to be remembered of those that were. Whoever has the token may use every handle, as may every session id; what a
 * handle keeps out is a mistake, not a person.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../base/isObject.js';
import type { Fields } from '../protocol/client.js';
import type { ServedToolset } from './backend.js';

/** The bytes of a handle: what makes it unique, the run of this program that minted it, and the signature. */
const uniqueBytes = 16;
const runBytes = 3;
const signatureBytes = 8;
const handlePattern = /^[A-Za-z0-9_-]{36}$/;

/** In `_meta`, for a client whose request has no arguments to carry a handle. */
export const handleKey = 'mcp-toolsets/conversation';

const argumentName = 'mcp_toolsets_conversation';

const description =
  'The handle of this conversation. Leave it out in the first call: the answer then says which handle to pass, unchanged, in this and every later call of the conversation.';

export interface Handle {
  readonly id: string;
  /** Whether an earlier run of this program minted it, so that what its conversation held is gone. */
  readonly isOfEarlierRun: boolean;
}

export class Handles {
  private readonly key: Buffer;
  private readonly run = randomBytes(runBytes);
  private readonly taking = new WeakMap<ServedToolset, ServedToolset>();

  constructor(token: string) {
    this.key = createHmac('sha256', token).update('mcp-toolsets handles of conversations').digest();
  }

  mint(): string {
    const body = Buffer.concat([randomBytes(uniqueBytes), this.run]);
    return Buffer.concat([body, this.signature(body)]).toString('base64url');
  }

  /** Returns undefined for what was not minted for this token. */
  read(handle: unknown): Handle | undefined {
    if (typeof handle !== 'string' || !handlePattern.test(handle)) return undefined;
    const bytes = Buffer.from(handle, 'base64url');
    const body = bytes.subarray(0, uniqueBytes + runBytes);
    if (!timingSafeEqual(bytes.subarray(body.length), this.signature(body))) return undefined;
    const id = body.subarray(0, uniqueBytes).toString('base64url');
    return { id, isOfEarlierRun: !body.subarray(uniqueBytes).equals(this.run) };
  }

  /** Returns the toolset with tools that take a handle. */
  takenBy(served: ServedToolset): ServedToolset {
    const known = this.taking.get(served);
    if (known) return known;
    const { instructions } = served;
    const made = {
      ...served,
      instructions: instructions === undefined ? handleInstructions : `${instructions}\n\n${handleInstructions}`,
      tools: served.tools.map(withHandle),
    };
    this.taking.set(served, made);
    return made;
  }

  private signature(body: Buffer): Buffer {
    return createHmac('sha256', this.key).update(body).digest().subarray(0, signatureBytes);
  }
}

const handleInstructions = `The answer to the first call of a conversation names its handle. Pass the handle as \`${argumentName}\` in every later call.`;

/** Returns the argument in which a tool takes a handle, which is none of its own. */
export function handleArgument({ inputSchema }: Tool): string {
  const { properties = {} } = inputSchema;
  let name = argumentName;
  for (let count = 2; name in properties; count++) name = `${argumentName}_${count}`;
  return name;
}

function withHandle(tool: Tool): Tool {
  const { inputSchema } = tool;
  const properties = { ...inputSchema.properties, [handleArgument(tool)]: { type: 'string', description } };
  return { ...tool, inputSchema: { ...inputSchema, properties } };
}

/** Takes the handle out of the arguments of a call. */
export function withoutHandle(
  tool: Tool,
  given: unknown,
): { readonly handle: unknown; readonly rest: Fields | undefined } {
  if (!isObject(given)) return { handle: undefined, rest: undefined };
  const { [handleArgument(tool)]: handle, ...rest } = given;
  return { handle, rest };
}

/** Says what the model of a conversation has to do that has shown no handle, or a wrong one. */
export function handleNote(tool: Tool, given: unknown, minted: string): string {
  const name = handleArgument(tool);
  const why =
    given === undefined
      ? 'Each conversation has its own instance, and this call does not name its conversation.'
      : `"${name}" is not a handle that MCP Toolsets gave out.`;
  return `[MCP Toolsets] The tool was not called. ${why} Call it again with "${name}": "${minted}", and pass the same handle in every later call of this conversation.`;
}
