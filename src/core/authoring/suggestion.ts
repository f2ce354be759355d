/** A suggestion, before and after it is fitted into the quotes and style of its place. */
import { noMarkdown, type Markdown } from '../base/inert.js';
import { scalarText } from '../yaml/edits.js';
import type { Slot } from '../yaml/sketch.js';
import type { Span } from '../yaml/textPositions.js';

export interface Suggestion {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'server' | 'tool' | 'pattern' | 'variable' | 'folder' | 'file';
  readonly detail: string;
  readonly documentation: Markdown;
  /** The editor's snippet for the span. It is indented relative to its first line. */
  readonly snippet: string;
  readonly span: Span;
  readonly filter: string;
  readonly order: string;
  /** True to ask again after the insertion, because the next part has suggestions too. */
  readonly andThen: boolean;
}

/** A tool as its server lists it. A tool that is kept out has neither description nor arguments here. */
export interface KnownTool {
  readonly original: string;
  readonly description: string;
  /** Its top-level arguments with their schemas, by name. */
  readonly arguments: ReadonlyMap<string, unknown>;
}

export interface CompletionDeps {
  /** Returns all tools of a server, with filtered ones. */
  readonly tools: (server: string) => readonly KnownTool[];
  readonly variables: readonly string[];
  /** Lists a folder by its path in the workspace folder; `''` is the folder itself. */
  readonly entries: (path: string) => Promise<readonly { readonly name: string; readonly isFolder: boolean }[]>;
}

export interface Draft {
  readonly label: string;
  readonly kind: Suggestion['kind'];
  readonly detail?: string;
  readonly documentation?: Markdown;
  /** The kind of text; by default the label. `text` and `quoted` are scalars; the second always has quotes. */
  readonly writes?:
    | { readonly kind: 'text' | 'quoted'; readonly value: string }
    /** `rest` is a snippet. */
    | { readonly kind: 'key'; readonly key: string; readonly rest: string }
    | { readonly kind: 'snippet'; readonly snippet: string };
  readonly rank?: number;
  readonly always?: boolean;
  readonly andThen?: boolean;
}

/** @param typed the text between the beginning of the slot and the cursor */
export function fit(drafts: readonly Draft[], slot: Slot, typed: string): Suggestion[] {
  const { span, spaced, quote } = slot;
  return drafts.flatMap((draft) => {
    const text = written(draft, slot);
    if (text === undefined) return [];
    const { label, kind, detail = '', documentation = noMarkdown, rank = 0, always, andThen = false } = draft;
    const filter = always ? typed || label : quote + label;
    const order = String(rank + 1000).padStart(6, '0') + label;
    const snippet = spaced ? text : ` ${text}`;
    return [{ label, kind, detail, documentation, snippet, span, filter, order, andThen }];
  });
}

function written({ label, writes = { kind: 'text', value: label } }: Draft, { quote }: Slot): string | undefined {
  switch (writes.kind) {
    case 'text':
    case 'quoted':
      return escapeSnippet(scalarText(writes.value, writes.kind === 'text' ? quote : quote || "'"));
    case 'key':
      return escapeSnippet(quote === '' ? writes.key : scalarText(writes.key, quote)) + writes.rest;
    case 'snippet':
      return quote === '' ? writes.snippet : undefined;
  }
}

export function escapeSnippet(text: string): string {
  return text.replace(/[\\$}]/g, '\\$&');
}
