/** Makes the fields of a form. Each shows its label, its purpose and the error of its input. */
import { roundingError } from '../core/base/exactNumbers.js';
import { enteredText, inputs, sentText } from './formats.js';
import { button, element, newId } from './page.js';
import type { Field, Json, Member } from './schemaForm.js';

type Entered =
  /** The arguments do not have the value. */
  { readonly kind: 'absent' } | { readonly kind: 'value'; readonly value: Json } | { readonly kind: 'wrong' };

export interface Control {
  readonly root: HTMLElement;
  /** Returns the value. If the input is wrong, the field shows why. */
  read(): Entered;
  focus(): void;
  /** Returns the input, right or wrong. */
  draft(): Json;
  /** Enters a draft of this or another form as far as it fits. */
  restore(draft: Json | undefined): void;
}

/** Items of a list are required, but without a mark, because a person has added them. */
type Need = 'required' | 'optional' | 'item';

const absent: Entered = { kind: 'absent' };
const wrong: Entered = { kind: 'wrong' };
const value = (entered: Json): Entered => ({ kind: 'value', value: entered });

function control(name: string, need: Need, field: Field): Control {
  switch (field.kind) {
    case 'group':
      return group(name, need, field);
    case 'list':
      return list(name, need, field);
    case 'flag':
      return need === 'optional' ? choice(name, need, field, booleans) : flag(name, field);
    case 'choice':
      return choice(name, need, field, field.options);
    case 'text':
    case 'json':
    case 'number':
      return line(name, need, field);
  }
}

type LineField = Extract<Field, { kind: 'text' | 'json' | 'number' }>;

export function form(field: Field): Control {
  if (field.kind !== 'group') return control('arguments', 'required', field);
  const all = members(field.members);
  if (field.members.length === 0) all.root.append(element('p', {}, 'The tool takes no arguments.'));
  return { ...all, read: () => filled(all.read()) };
}

const booleans = [
  { label: 'true', value: true },
  { label: 'false', value: false },
] as const;

interface Frame {
  readonly root: HTMLElement;
  readonly describedBy: string;
  complain(message: string): Entered;
  quiet(): void;
}

function frame(id: string, name: string, need: Need, field: Field, hints: readonly string[]): Frame {
  const note = newId();
  const error = newId();
  const complaint = element('p', { id: error, class: 'error', role: 'alert' });
  const label = element('label', { for: id }, name, ...requiredMark(need));
  const lines = [field.title === name ? '' : field.title, field.description, ...hints].filter((hint) => hint !== '');
  const root = element('div', { class: 'field' }, label, element('p', { id: note, class: 'note' }, lines.join(' · ')));
  return {
    root,
    describedBy: `${note} ${error}`,
    complain: (message) => {
      complaint.textContent = message;
      root.append(complaint);
      root.querySelector(`#${id}`)?.setAttribute('aria-invalid', 'true');
      return wrong;
    },
    quiet: () => {
      complaint.remove();
      root.querySelector(`#${id}`)?.removeAttribute('aria-invalid');
    },
  };
}

/** The space separates the two words for a screen reader. */
function requiredMark(need: Need): (Node | string)[] {
  return need === 'required' ? [' ', element('span', { class: 'required' }, 'required')] : [];
}

function line(name: string, need: Need, field: LineField): Control {
  const { kind } = field;
  const id = newId();
  const around = frame(id, name, need, field, hintsOf(field));
  const initial = need === 'optional' ? undefined : field.initial;
  const shared = {
    id,
    'aria-describedby': around.describedBy,
    'aria-required': need === 'required' ? 'true' : undefined,
  };
  const placeholder = field.initial === undefined ? undefined : `default: ${JSON.stringify(field.initial)}`;
  const format = field.kind === 'text' ? field.format : undefined;
  const input =
    kind === 'number' || format !== undefined
      ? element('input', {
          ...shared,
          type: format === undefined ? 'number' : inputs[format].type,
          step: format === undefined ? 'any' : '1',
          placeholder,
        })
      : element('textarea', { ...shared, rows: kind === 'json' ? '3' : '1', spellcheck: 'false', placeholder });
  if (kind !== 'text' && initial !== undefined) input.value = JSON.stringify(initial);
  // A text field ignores a default of another type.
  if (kind === 'text' && typeof initial === 'string') {
    input.value = format === undefined ? initial : (enteredText(format, initial) ?? '');
  }
  around.root.append(input);
  return {
    root: around.root,
    focus: () => input.focus(),
    draft: () => input.value,
    restore: (draft) => {
      if (typeof draft === 'string' || typeof draft === 'number') input.value = String(draft);
    },
    read: () => {
      around.quiet();
      const entered = input.value;
      if (input.validity.badInput)
        return around.complain(format === undefined ? 'This is not a number.' : inputs[format].wrong);
      if (entered === '' && need === 'optional') return absent;
      if (entered === '' && !(kind === 'text' && field.initial === '')) return around.complain(emptyError(field));
      const read = readLine(field, entered);
      return 'value' in read ? value(read.value) : around.complain(read.error);
    },
  };
}

function readLine(field: LineField, entered: string): { readonly value: Json } | { readonly error: string } {
  switch (field.kind) {
    case 'text': {
      const { format } = field;
      const sent = format === undefined || entered === '' ? entered : sentText(format, entered);
      const error = sent === undefined && format ? inputs[format].wrong : textError(field, sent ?? '');
      return error === '' ? { value: sent ?? '' } : { error };
    }
    case 'json':
      try {
        const parsed = JSON.parse(entered) as Json;
        const error = roundingError(entered);
        return error === undefined ? { value: parsed } : { error };
      } catch (error) {
        return { error: `This is not JSON: ${(error as SyntaxError).message}` };
      }
    case 'number': {
      const error = roundingError(entered) ?? numberError(field, Number(entered));
      return error === '' ? { value: Number(entered) } : { error };
    }
  }
}

function hintsOf(field: LineField): string[] {
  switch (field.kind) {
    case 'number':
      return [
        field.integer ? 'a whole number' : 'a number',
        field.minimum === undefined ? '' : `from ${field.minimum}`,
        field.maximum === undefined ? '' : `up to ${field.maximum}`,
      ];
    case 'json':
      return [`JSON: ${field.accepts}`];
    case 'text':
      return field.format?.includes('time') === true ? ['in your time zone'] : [];
  }
}

function emptyError(field: LineField): string {
  const allowsEmpty = field.kind === 'text' && field.least === 0 && field.format === undefined;
  return allowsEmpty ? 'This is required. To send an empty text, use Edit as JSON.' : 'This is required.';
}

function textError({ least, most, pattern }: Extract<Field, { kind: 'text' }>, entered: string): string {
  const length = [...entered].length;
  if (length < least) return `At least ${least} characters.`;
  if (most !== undefined && length > most) return `At most ${most} characters.`;
  return pattern !== '' && !matches(pattern, entered) ? `This does not match ${pattern}.` : '';
}

/** Accepts any text for a pattern that this engine does not understand. The server checks it. */
function matches(pattern: string, entered: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(entered);
  } catch {
    return true;
  }
}

function numberError({ integer, minimum, maximum }: Extract<Field, { kind: 'number' }>, entered: number): string {
  if (integer && !Number.isInteger(entered)) return 'This must be a whole number.';
  if (minimum !== undefined && entered < minimum) return `At least ${minimum}.`;
  if (maximum !== undefined && entered > maximum) return `At most ${maximum}.`;
  return '';
}

function flag(name: string, field: Field): Control {
  const id = newId();
  const around = frame(id, name, 'item', field, []);
  const box = element('input', { id, type: 'checkbox', 'aria-describedby': around.describedBy });
  box.checked = field.initial === true;
  around.root.prepend(box);
  around.root.classList.add('flag');
  return {
    root: around.root,
    focus: () => box.focus(),
    draft: () => box.checked,
    restore: (draft) => {
      if (typeof draft === 'boolean') box.checked = draft;
    },
    read: () => value(box.checked),
  };
}

function choice(
  name: string,
  need: Need,
  field: Field,
  options: readonly { readonly label: string; readonly value: Json }[],
): Control {
  const id = newId();
  const around = frame(id, name, need, field, []);
  const usual = field.initial === undefined ? '' : ` (default: ${JSON.stringify(field.initial)})`;
  const required = need === 'required' ? 'true' : undefined;
  const select = element('select', { id, 'aria-describedby': around.describedBy, 'aria-required': required });
  select.append(element('option', { value: '' }, need === 'optional' ? `not set${usual}` : 'Choose…'));
  options.forEach((option, index) => select.append(element('option', { value: String(index) }, option.label)));
  if (need !== 'optional') {
    const initial = options.length === 1 ? 0 : options.findIndex((option) => option.value === field.initial);
    if (initial >= 0) select.value = String(initial);
  }
  around.root.append(select);
  const chosenOption = (): { readonly label: string; readonly value: Json } | undefined =>
    select.value === '' ? undefined : options[Number(select.value)];
  return {
    root: around.root,
    focus: () => select.focus(),
    draft: () => chosenOption()?.label ?? '',
    restore: (draft) => {
      const index = options.findIndex(({ label, value: own }) => label === draft || own === draft);
      if (index >= 0 || draft === '') select.value = index < 0 ? '' : String(index);
    },
    read: () => {
      around.quiet();
      const chosen = chosenOption();
      if (chosen) return value(chosen.value);
      return need === 'optional' ? absent : around.complain('Choose one.');
    },
  };
}

function members(all: readonly Member[]): Control {
  const controls = all.map(({ name, required, field }) => ({
    name,
    control: control(name, required ? 'required' : 'optional', field),
  }));
  const root = element('div', { class: 'members' }, ...controls.map((each) => each.control.root));
  return {
    root,
    focus: () => controls[0]?.control.focus(),
    draft: () => Object.fromEntries(controls.map(({ name, control: one }) => [name, one.draft()])),
    restore: (draft) => {
      if (typeof draft !== 'object' || draft === null) return;
      for (const { name, control: one } of controls) {
        if (Object.hasOwn(draft, name)) one.restore((draft as Readonly<Record<string, Json>>)[name]);
      }
    },
    read: () => {
      // Reads every field, so that all errors show at once.
      const entered = controls.map(({ name, control: one }) => ({ name, one, read: one.read() }));
      const first = entered.find(({ read }) => read.kind === 'wrong');
      if (first) return wrong;
      const present = entered.flatMap(({ name, read }) => (read.kind === 'value' ? [[name, read.value] as const] : []));
      return present.length === 0 ? absent : value(Object.fromEntries(present));
    },
  };
}

function filled(entered: Entered): Entered {
  return entered.kind === 'absent' ? value({}) : entered;
}

function group(name: string, need: Need, field: Extract<Field, { kind: 'group' }>): Control {
  const inner = members(
    // The parts of an optional object are required only if it is given. The server checks this.
    field.members.map((member) => (need !== 'optional' ? member : { ...member, required: false })),
  );
  const root = fieldset(name, need, field, inner.root);
  return { ...inner, root, read: () => (need === 'optional' ? inner.read() : filled(inner.read())) };
}

function fieldset(name: string, need: Need, field: Field, ...content: HTMLElement[]): HTMLFieldSetElement {
  const note = field.description === '' ? [] : [element('p', { class: 'note' }, field.description)];
  return element('fieldset', {}, element('legend', {}, name, ...requiredMark(need)), ...note, ...content);
}

function list(name: string, need: Need, field: Extract<Field, { kind: 'list' }>): Control {
  const rows: { readonly root: HTMLElement; readonly control: Control; readonly number: number }[] = [];
  const container = element('div', { class: 'items' });
  const add = button(`Add to ${name}`, () => append().focus(), { class: 'secondary' });
  const root = fieldset(name, need, field, container, add);
  const limit = (): void => {
    add.disabled = field.most !== undefined && rows.length >= field.most;
  };
  function append(): Control {
    // The other items keep their numbers when one is removed.
    const number = (rows.at(-1)?.number ?? 0) + 1;
    const one = control(`${name} ${number}`, 'item', field.item);
    const remove = button('Remove', () => {
      rows.splice(
        rows.findIndex((each) => each.control === one),
        1,
      );
      row.root.remove();
      limit();
      add.focus();
    });
    remove.className = 'secondary';
    remove.setAttribute('aria-label', `Remove ${name} ${number}`);
    const row = { root: element('div', { class: 'item' }, one.root, remove), control: one, number };
    rows.push(row);
    container.append(row.root);
    limit();
    return one;
  }
  if (need !== 'optional') for (let count = 0; count < field.least; count++) append();
  return {
    root,
    focus: () => (rows[0] ? rows[0].control.focus() : add.focus()),
    draft: () => rows.map((row) => row.control.draft()),
    restore: (draft) => {
      if (!Array.isArray(draft)) return;
      for (const [index, one] of (draft as readonly Json[]).entries()) (rows[index]?.control ?? append()).restore(one);
    },
    read: () => {
      const entered = rows.map((row) => row.control.read());
      if (entered.some(({ kind }) => kind === 'wrong')) return wrong;
      if (entered.length === 0 && need === 'optional') return absent;
      return value(entered.flatMap((each) => (each.kind === 'value' ? [each.value] : [])));
    },
  };
}
