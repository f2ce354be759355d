/** Shows a tool's result: each type of content in readable form, and the whole result as JSON. */
import { said } from '../core/base/language.js';
import { laidOut } from '../core/base/text.js';
import type { TrialOutcome } from './messages.js';
import { element } from './page.js';
import { text } from './schemaForm.js';

/**
 * The most characters of a text, because long texts slow down the page. A button opens the whole
 * text.
 */
const longestText = 200_000;

type Part = Readonly<Record<string, unknown>>;

interface ShownOutcome {
  readonly word: string;
  readonly isFailure: boolean;
  readonly nodes: readonly Node[];
  /** The text for *Copy Result*; undefined without a result. */
  readonly copied?: string;
}

export function shownOutcome(outcome: TrialOutcome): ShownOutcome {
  if (outcome.kind === 'cancelled')
    return {
      word: 'Cancelled',
      isFailure: false,
      nodes: [],
    };
  if (outcome.kind === 'error') {
    const detail = outcome.detail === '' ? [] : [pre(outcome.detail)];
    return {
      word: 'Failed',
      isFailure: true,
      nodes: [pre(outcome.message, 'error'), ...detail],
    };
  }
  const { result } = outcome;
  const isFailure = result['isError'] === true;
  const word = isFailure ? said`The tool reports an error` : said`Done`;
  return {
    word,
    isFailure,
    nodes: resultElements(result),
    copied: copiedText(result),
  };
}

function copiedText(result: Part): string {
  const content = contentOf(result);
  const isText = content.length > 0 && content.every(({ type }) => type === 'text');
  return isText ? content.map((part) => text(part['text'])).join('\n') : json(result);
}

function contentOf({ content }: Part): Part[] {
  return Array.isArray(content) ? (content as Part[]) : [];
}

function resultElements(result: Part): Node[] {
  const content = contentOf(result);
  const structured = result['structuredContent'];
  return [
    ...content.map(partElement),
    ...(structured === undefined
      ? []
      : [labelled(said`structured content`, pre(json(structured)))]),
    ...(content.length === 0 && structured === undefined
      ? [element('p', {}, said`The result is empty.`)]
      : []),
    element(
      'details',
      {},
      element('summary', {}, said`The whole result as JSON`),
      pre(json(result)),
    ),
  ];
}

function partElement(part: Part): Node {
  switch (part['type']) {
    case 'text':
      return labelled(kindOf('text', part), pre(laidOut(text(part['text']), longestText)));
    case 'image':
    case 'audio':
      return labelled(
        kindOf(text(part['mimeType']), part),
        media(part['type'], part['mimeType'], part['data']),
      );
    case 'resource':
      return resource((part['resource'] ?? {}) as Part);
    case 'resource_link':
      return labelled('link', link(part));
    default:
      return labelled(`${text(part['type']) || 'unknown'}`, pre(json(part)));
  }
}

function kindOf(kind: string, part: Part): string {
  const annotations = part['annotations'] as Part | undefined;
  const audience = annotations?.['audience'];
  return Array.isArray(audience) ? said`${kind} · for ${audience.map(text).join(', ')}` : kind;
}

function media(kind: 'image' | 'audio', type: unknown, data: unknown): Node {
  if (!new RegExp(`^${kind}/[a-z0-9.+-]+$`, 'i').test(text(type))) return pre(json({ type, data }));
  const src = `data:${text(type)};base64,${bare(data)}`;
  return kind === 'audio'
    ? element('audio', { controls: true, src })
    : element('img', { src, alt: said`Image of the result, ${text(type)}` });
}

function resource(held: Part): Node {
  const label = said`resource · ${text(held['uri'])}`;
  const type = text(held['mimeType']);
  if (typeof held['text'] === 'string')
    return labelled(label, pre(laidOut(held['text'], longestText)));
  for (const kind of ['image', 'audio'] as const) {
    if (type.startsWith(`${kind}/`)) return labelled(label, media(kind, type, held['blob']));
  }
  const bytes = Math.floor((bare(held['blob']).replace(/(?<!=)=+$/, '').length * 3) / 4);
  return labelled(label, element('p', {}, said`${type || 'binary'}, ${bytes} bytes`));
}

/** The editor opens a clicked link and asks the person first. */
function link(part: Part): Node {
  const uri = text(part['uri']);
  const name = text(part['title']) || text(part['name']) || uri;
  const rest = [text(part['description']), text(part['mimeType']), uri].filter(
    (line) => line !== '' && line !== name,
  );
  const shown = /^https?:/.test(uri)
    ? element('a', { href: uri }, name)
    : element('strong', {}, name);
  return element('p', {}, shown, rest.length > 0 ? ` ${rest.join(' · ')}` : '');
}

function labelled(label: string, content: Node): HTMLElement {
  return element('figure', {}, element('figcaption', {}, label), content);
}

function pre(content: string, kind?: string): HTMLElement {
  const cut = content.length > longestText;
  const shown = cut
    ? said`${content.slice(0, longestText)}\n… ${content.length - longestText} more characters`
    : content;
  return element('pre', { class: kind, tabindex: '0' }, shown);
}

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? '';
}

function bare(data: unknown): string {
  return text(data).replace(/^data:[^,]*,/, '');
}
