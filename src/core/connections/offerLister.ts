/**
 * Asks one server for what it offers: tools, prompts, resources and templates, every page of each. What it has not
 * announced is not asked for. Only the tools can fail as a whole; of the rest a list that fails says why.
 */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import { ListError, type ListOptions, type ToolListing } from './connection.js';
import { isObject } from '../base/isObject.js';
import { listEntries, type EntryListing, type PromptListing, type ResourceListing } from './offerListing.js';
import { rpcMessage } from './outcomes.js';
import { listAllTools } from './toolListing.js';

export interface OfferListerParts {
  readonly capabilities: ServerCapabilities;
  readonly clock: Clock;
  readonly send: (method: string, params: object | undefined, signal: AbortSignal) => Promise<unknown>;
  /** In words; undefined while the connection lives. */
  readonly causeOfEnd: () => string | undefined;
}

const methodNotFound = -32601;

export class OfferLister {
  constructor(private readonly parts: OfferListerParts) {}

  async listTools(options: ListOptions): Promise<ToolListing> {
    options.signal.throwIfAborted();
    if (!isObject(this.parts.capabilities.tools)) return { tools: [], malformed: [] };
    return await this.pages('tools', 'tools/list', options, listAllTools);
  }

  async listPrompts(options: ListOptions): Promise<PromptListing | undefined> {
    if (!isObject(this.parts.capabilities.prompts)) return undefined;
    const { entries, ...rest } = await this.entries<PromptListing['prompts'][number]>(
      ['prompts', 'prompts/list', 'prompts', 'name'],
      options,
    );
    return { prompts: entries, ...rest };
  }

  async listResources(options: ListOptions): Promise<ResourceListing | undefined> {
    if (!isObject(this.parts.capabilities.resources)) return undefined;
    const [resources, templates] = await Promise.all([
      this.entries<ResourceListing['resources'][number]>(['resources', 'resources/list', 'resources', 'uri'], options),
      this.entries<ResourceListing['templates'][number]>(
        ['resources', 'resources/templates/list', 'resourceTemplates', 'uriTemplate'],
        options,
      ),
    ]);
    const failure = resources.failure ?? templates.failure;
    return {
      resources: resources.entries,
      templates: templates.entries,
      malformed: [...resources.malformed, ...templates.malformed],
      ...(failure !== undefined && { failure }),
    };
  }

  private async entries<Entry>(
    [what, method, key, identity]: readonly [string, string, string, string],
    options: ListOptions,
  ): Promise<EntryListing<Entry> & { readonly failure?: string }> {
    try {
      return await this.pages(what, method, options, (page) => listEntries<Entry>(method, key, identity, page));
    } catch (error) {
      if (!(error instanceof ListError)) throw error;
      const none = { entries: [], malformed: [] };
      // Many servers announce what they do not have, and resources without templates.
      const { code } = (error.cause ?? {}) as { code?: unknown };
      return code === methodNotFound ? none : { ...none, failure: error.message };
    }
  }

  /** @param what is listed, for messages. */
  private async pages<Listed>(
    what: string,
    method: string,
    { signal, timeoutMs }: ListOptions,
    all: (page: (cursor: string | undefined) => Promise<unknown>) => Promise<Listed>,
  ): Promise<Listed> {
    signal.throwIfAborted();
    // One for each page: the client never takes its listeners back, and would cancel pages that came long ago.
    let page = new AbortController();
    let timedOut = false;
    const aborted = (): void => page.abort(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    const timer = this.parts.clock.after(timeoutMs, () => {
      timedOut = true;
      page.abort(`${method} took too long`);
    });
    try {
      return await all((cursor) => {
        if (!page.signal.aborted) page = new AbortController();
        return this.parts.send(method, cursor === undefined ? undefined : { cursor }, page.signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ListError) throw error;
      if (timedOut) throw new ListError(`The server did not list its ${what} within ${timeoutMs / 1000} s.`);
      const cause = this.parts.causeOfEnd();
      if (cause !== undefined) throw new ListError(`The connection ended while it listed its ${what}. ${cause}`);
      throw new ListError(`${method} failed: ${rpcMessage(error)}`, { cause: error });
    } finally {
      timer.dispose();
      signal.removeEventListener('abort', aborted);
    }
  }
}
