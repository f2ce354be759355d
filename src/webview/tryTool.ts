/** Shows the page of *Try Tool*: a form made from the tool's schema, the progress and the result. It talks only to its panel. */
import { form, type Control } from './controls.js';
import type { ToPage, ToPanel, TriedTool } from './messages.js';
import { button, element } from './page.js';
import { outcomeElements, outcomeWord } from './results.js';
import { formOf, type Json } from './schemaForm.js';

declare function acquireVsCodeApi(): { postMessage(message: ToPanel): void };

const panel = acquireVsCodeApi();
const send = (message: ToPanel): void => panel.postMessage(message);

const head = element('header');
const fields = element('form', { novalidate: true, 'aria-label': 'Arguments' });
const documentNote = element('p', { class: 'note', hidden: true }, 'The arguments come from the JSON document. ');
const run = button('Run', () => start(), { title: 'Ctrl+Enter or Cmd+Enter' });
const cancel = button('Cancel', () => send({ kind: 'cancel' }), { class: 'secondary', hidden: true });
const asJson = button('Edit as JSON', () => openDocument(), {
  class: 'secondary',
  title: 'In an editor, with completion and validation by the schema',
});
const asForm = button('Back to the Form', () => useDocument(false), { class: 'secondary', hidden: true });
const openResult = button('Open Result in Editor', () => send({ kind: 'openResult' }), {
  class: 'secondary',
  hidden: true,
});
const status = element('p', { role: 'status', 'aria-live': 'polite', class: 'status' });
const bar = element('progress', { hidden: true, 'aria-label': 'Progress of the call' });
const result = element('section', { 'aria-label': 'Result', class: 'result' });

let entered: Control | undefined;
let fromDocument = false;
let running = false;

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
    result,
    element('div', { class: 'actions' }, openResult),
  ),
);

fields.addEventListener('submit', (event) => {
  event.preventDefault();
  start();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start();
  else if (event.key === 'Escape' && running) send({ kind: 'cancel' });
});
window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => receive(data));
send({ kind: 'ready' });

function receive(message: ToPage): void {
  switch (message.kind) {
    case 'tool':
      show(message.tool);
      if (message.changed) status.textContent = 'The tool has changed, so the form is new.';
      return;
    case 'started':
      setRunning(true);
      status.textContent = 'Running…';
      bar.removeAttribute('value');
      result.replaceChildren();
      openResult.hidden = true;
      return;
    case 'progress': {
      const { progress, total, message: said } = message;
      if (total !== undefined && total > 0) {
        bar.max = total;
        bar.value = progress;
      }
      const share = total === undefined ? String(progress) : `${progress} of ${total}`;
      status.textContent = `Running… ${share}${said === undefined ? '' : ` · ${said}`}`;
      return;
    }
    case 'ended': {
      setRunning(false);
      const { outcome, ms } = message;
      const failed = outcome.kind === 'error' || (outcome.kind === 'result' && outcome.result['isError'] === true);
      status.textContent = `${outcomeWord(outcome)} after ${ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`}.`;
      status.classList.toggle('error', failed);
      result.replaceChildren();
      for (const each of outcomeElements(outcome)) result.append(each);
      openResult.hidden = outcome.kind !== 'result';
      // Below a long form, the result would be out of sight.
      if (result.getBoundingClientRect().bottom > innerHeight) status.scrollIntoView({ block: 'start' });
      return;
    }
    case 'app': {
      const { wrong } = message;
      const told = wrong === undefined ? 'Its app is shown beside this panel.' : `Its app cannot be shown: ${wrong}.`;
      result.prepend(element('p', { class: 'note' }, told));
      return;
    }
    case 'refused':
      setRunning(false);
      status.textContent = message.reason;
      status.classList.add('error');
      return;
  }
}

function show(tool: TriedTool): void {
  const { published, original, title, description, server } = tool;
  const names = original === published ? server : `${server}, where it is called ${original}`;
  head.replaceChildren(
    element('h1', {}, published),
    element('p', { class: 'note' }, [title, `of ${names}`, ...tool.effects].filter((part) => part !== '').join(' · ')),
    ...(description === '' ? [] : [element('p', { class: 'description' }, description)]),
    element('p', { class: 'note' }, tool.instance),
  );
  entered = form(formOf(tool.inputSchema));
  fields.replaceChildren(entered.root);
  if (!fromDocument) entered.focus();
}

function start(): void {
  if (running || !entered) return;
  status.classList.remove('error');
  if (fromDocument) {
    send({ kind: 'runDocument' });
    return;
  }
  const read = entered.read();
  if (read.kind === 'value') {
    send({ kind: 'run', arguments: read.value as Readonly<Record<string, Json>> });
    return;
  }
  status.textContent = 'Some fields are not valid yet.';
  fields.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}

function openDocument(): void {
  const read = entered?.read();
  useDocument(true);
  send({
    kind: 'openDocument',
    arguments: read?.kind === 'value' ? (read.value as Readonly<Record<string, Json>>) : {},
  });
}

function useDocument(use: boolean): void {
  fromDocument = use;
  fields.hidden = use;
  documentNote.hidden = !use;
  asForm.hidden = !use;
  asJson.textContent = use ? 'Show the Document' : 'Edit as JSON';
  if (!use) entered?.focus();
}

function setRunning(now: boolean): void {
  running = now;
  run.disabled = now;
  cancel.hidden = !now;
  bar.hidden = !now;
  if (now) cancel.focus();
  else if (document.activeElement === document.body || document.activeElement === cancel) run.focus();
  status.classList.remove('error');
}
