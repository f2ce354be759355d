/**
 * The page of *Try Tool*: a form of the tool's schema, the progress and the result. It talks only
 * to its panel.
 */
import { said, speak, type Bundle } from '../core/base/language.js';
import { sameJson } from '../core/base/canonicalJson.js';
import { tookPhrase } from '../core/base/text.js';
import { form, type Control } from './controls.js';
import type { Arguments, KeptTrial, ToPage, ToPanel, TrialOutcome, TriedTool } from './messages.js';
import { button, element, note } from './page.js';
import { shownOutcome } from './results.js';
import { formOf, type Json } from './schemaForm.js';

declare function acquireVsCodeApi(): {
  postMessage(message: ToPanel): void;
  getState(): KeptTrial | undefined;
  setState(kept: KeptTrial): void;
};

const texts = JSON.parse(document.body.dataset['texts'] ?? 'null') as Bundle | null;
speak(document.documentElement.lang, texts ?? undefined);

const panel = acquireVsCodeApi();
const send = (message: ToPanel): void => panel.postMessage(message);

const head = element('header');
const fields = element('form', { novalidate: true, 'aria-label': said`Arguments` });
const documentNote = note(said`The arguments come from the JSON document. `, { hidden: true });
const run = button(said`Run`, () => start(), { title: said`Ctrl+Enter or Cmd+Enter` });
const hidden = { class: 'secondary', hidden: true };
const cancel = button(said`Cancel`, () => send({ kind: 'cancel' }), hidden);
const asJson = button(said`Edit as JSON`, () => openDocument(), {
  class: 'secondary',
  title: said`In an editor, with completion and validation by the schema`,
});
const asForm = button(said`Back to the Form`, () => useDocument(false), hidden);
const openResult = button(said`Open Result in Editor`, () => send({ kind: 'openResult' }), hidden);
const copyResult = button(said`Copy Result`, () => send({ kind: 'copy', text: copied }), hidden);
const oldNote = note(said`This is the result of the call before.`, { hidden: true });
const status = element('p', {
  role: 'status',
  'aria-live': 'polite',
  class: 'status',
});
const bar = element('progress', { hidden: true, 'aria-label': said`Progress of the call` });
const result = element('section', { 'aria-label': said`Result`, class: 'result' });

let kept = panel.getState();
let shown: TriedTool | undefined;
let entered: Control | undefined;
let fromDocument = false;
let running = false;
let copied = '';

document.body.append(
  element(
    'main',
    {},
    head,
    fields,
    documentNote,
    element('div', { class: 'actions' }, run, cancel, asJson, asForm),
    status,
    bar,
    oldNote,
    result,
    element('div', { class: 'actions' }, copyResult, openResult),
  ),
);

fields.addEventListener('submit', (event) => {
  event.preventDefault();
  start();
});
// A click may add or remove an item of a list.
for (const kind of ['input', 'click']) fields.addEventListener(kind, () => keep());
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start();
  else if (event.key === 'Escape' && running) send({ kind: 'cancel' });
});
window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => receive(data));
if (kept?.document !== undefined) useDocument(true);
send({ kind: 'ready' });

function receive(message: ToPage): void {
  switch (message.kind) {
    case 'tool':
      return showTool(message.tool, message.changed);
    case 'document':
      return keep(message.text);
    case 'fill':
      return fill(message.arguments);
    case 'started':
      return showStart();
    case 'progress':
      return showProgress(message);
    case 'ended':
      return showEnd(message.outcome, message.ms);
    case 'app':
      return showApp(message.wrong);
    case 'refused':
      setRunning(false);
      refuse(message.reason);
  }
}

function showTool(tool: TriedTool, isChanged: boolean): void {
  show(tool);
  if (running) return;
  status.textContent = isChanged
    ? said`The tool has changed. The form keeps the arguments that fit.`
    : '';
  status.classList.remove('error');
}

function showStart(): void {
  setRunning(true);
  status.textContent = said`Running…`;
  bar.removeAttribute('value');
  result.replaceChildren();
  for (const each of [oldNote, copyResult, openResult]) each.hidden = true;
}

function showProgress(report: Extract<ToPage, { kind: 'progress' }>): void {
  const { progress, total, message } = report;
  if (total !== undefined && total > 0) {
    bar.max = total;
    bar.value = progress;
  }
  const share = total === undefined ? String(progress) : `${progress}/${total}`;
  status.textContent = said`Running… ${share}` + `${message === undefined ? '' : ` · ${message}`}`;
}

function showEnd(outcome: TrialOutcome, ms: number): void {
  setRunning(false);
  const { word, isFailure, nodes, copied: text } = shownOutcome(outcome);
  status.textContent = said`${word} after ${tookPhrase(ms)}.`;
  status.classList.toggle('error', isFailure);
  result.replaceChildren();
  for (const node of nodes) result.append(node);
  for (const each of [copyResult, openResult]) each.hidden = text === undefined;
  copied = text ?? '';
  // A long form would hide the result.
  if (result.getBoundingClientRect().bottom > innerHeight)
    status.scrollIntoView({ block: 'start' });
}

function showApp(wrong: string | undefined): void {
  const text =
    wrong === undefined
      ? said`Its app is shown beside this panel.`
      : said`Its app cannot be shown: ${wrong}.`;
  result.prepend(note(text));
}

function show(tool: TriedTool): void {
  const { published, original, title, description, server } = tool;
  const of =
    original === published
      ? said`of ${server}`
      : said`of ${server}, where it is called ${original}`;
  const facts = [title, of, ...tool.effects].filter((part) => part !== '');
  head.replaceChildren(
    element('h1', {}, published),
    note(facts.join(' · ')),
    ...(description === '' ? [] : [descriptionOf(description)]),
    ...(tool.offered ? [serversView(tool.offered)] : []),
    note(tool.instance),
  );
  const control = showForm(tool, entered?.draft() ?? kept?.draft);
  keep();
  if (!fromDocument) control.focus();
}

function showForm(tool: TriedTool, draft: Json | undefined): Control {
  shown = tool;
  entered = form(formOf(tool.inputSchema));
  entered.restore(draft);
  fields.replaceChildren(entered.root);
  return entered;
}

/** The form is the view of agents. The calls of both are completed by the config file. */
function serversView({ description, inputSchema }: NonNullable<TriedTool['offered']>): HTMLElement {
  return element(
    'details',
    {},
    element('summary', {}, said`As the server describes it. The config file overrides this tool.`),
    ...(description === '' ? [] : [descriptionOf(description)]),
    element('pre', {}, JSON.stringify(inputSchema, null, 2)),
  );
}

function descriptionOf(text: string): HTMLElement {
  return element('p', { class: 'description' }, text);
}

function start(): void {
  if (running || !entered) return;
  status.classList.remove('error');
  if (fromDocument) return send({ kind: 'runDocument' });
  const read = entered.read();
  if (read.kind === 'value') return send({ kind: 'run', arguments: read.value as Arguments });
  refuse(said`Some fields are not valid yet.`);
  fields.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}

function refuse(reason: string): void {
  status.textContent = reason;
  status.classList.add('error');
  oldNote.hidden = result.childElementCount === 0;
}

/** Lets the editor keep the arguments. @param text the text of their document, if it has changed */
function keep(text = kept?.document): void {
  if (!shown || !entered) return;
  const { server, published } = shown;
  kept = {
    server,
    published,
    draft: entered.draft(),
    document: fromDocument ? text : undefined,
  };
  panel.setState(kept);
}

function openDocument(): void {
  const read = entered?.read();
  useDocument(true);
  const given = read?.kind === 'value' ? (read.value as Arguments) : {};
  send({ kind: 'openDocument', arguments: given });
}

/** If the form cannot hold the arguments, they become the document. */
function fill(given: Arguments): void {
  if (!shown) return;
  const read = showForm(shown, given).read();
  const held: Json = read.kind === 'value' ? read.value : {};
  const fits = read.kind !== 'wrong' && sameJson(held, given);
  useDocument(!fits);
  if (!fits) send({ kind: 'openDocument', arguments: given });
  status.textContent = said`These are the arguments of an earlier call.`;
}

function useDocument(use: boolean): void {
  fromDocument = use;
  fields.hidden = use;
  documentNote.hidden = !use;
  asForm.hidden = !use;
  asJson.textContent = use ? said`Show the Document` : said`Edit as JSON`;
  if (!use) entered?.focus();
  keep();
}

function setRunning(now: boolean): void {
  running = now;
  run.disabled = now;
  cancel.hidden = !now;
  bar.hidden = !now;
  if (now) cancel.focus();
  else if (document.activeElement === document.body || document.activeElement === cancel)
    run.focus();
  status.classList.remove('error');
}
