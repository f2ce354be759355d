/**
 * The common parts of model protocols: the tools in a request, the messages since the model's last
 * one, an answer.
 */
import type { ServerResponse } from 'node:http';

export interface OfferedTool {
  readonly name: string;
  /** Codex offers the tools of a server below a separate name. */
  readonly namespace?: string | undefined;
}

export type ModelAnswer =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly tool: OfferedTool;
      readonly args: object;
    };

export interface ModelProtocol {
  /** True if a request at this path asks the model for an answer. */
  speaksAt(path: string): boolean;
  tools(body: Fields): OfferedTool[];
  /** The messages since the model's last one, in the form of the protocol. */
  news(body: Fields): unknown[];
  answer(
    response: ServerResponse,
    answer: ModelAnswer,
    asked: { readonly body: Fields; readonly path: string },
  ): void;
}

export type Fields = Readonly<Record<string, unknown>>;

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}

/** The items behind the last match. */
export function behindLast<T>(items: readonly T[], isIt: (item: T) => boolean): T[] {
  return items.slice(items.findLastIndex(isIt) + 1);
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** @param events each with its name, if the protocol has names */
export function sendEvents(
  response: ServerResponse,
  events: readonly { readonly name?: string; readonly data: unknown }[],
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const { name, data } of events) {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
  }
  response.end();
}
