/** Makes the fields of a form. Each shows its label, its purpose and the error of its input. */
import { said, translated } from '../core/base/language.js';
import { roundingError } from '../core/base/exactNumbers.js';
import { isObject } from '../core/base/isObject.js';
import { enteredText, inputs, sentText, type Format } from './formats.js';
import { button, element, note } from './page.js';
import type { Field, Json, Member, Option } from './schemaForm.js';

type Entered =
  /** The arguments do not have the value. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'wrong' };

export interface Control {
  readonly root: HTMLElement;
  /** Returns the value. If the input is wrong, the field shows why. */
  read(): Entered;
  focus(): void;
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
    case 'choice':
      return choice(name, need, field, field.options);
    case 'flag':
      return need === 'optional' ? choice(name, need, field, booleans) : flag(name, field);
    default:
      return line(name, need, field);
  }
}

type LineField = Extract<Field, { kind: 'text' | 'json' | 'number' }>;

export function form(field: Field): Control {
  if (field.kind !== 'group') return control('arguments', 'required', field);
  const all = members(field.members);
  if (field.members.length === 0)
    all.root.append(element('p', {}, said`The tool takes no arguments.`));
  return { ...all, read: () => filled(all.read()) };
}

const booleans = [true, false].map((one): Option => ({ label: String(one), value: one }));

type Complaint = string;

let inputsMade = 0;

/** The input of one value, with the label and the texts around it. */
interface Framed extends Pick<Control, 'draft' | 'restore'> {
  readonly input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
  readonly name: string;
  readonly need: Need;
  readonly field: Field;
  readonly hints?: readonly string[];
  read(): Entered | Complaint;
}

function framed({ input, name, need, field, hints = [], ...own }: Framed): Control {
  inputsMade += 1;
  const id = `input${inputsMade}`;
  const described = `note${inputsMade}`;
  const error = `error${inputsMade}`;
  input.id = id;
  input.setAttribute('aria-describedby', `${described} ${error}`);
  if (need === 'required') input.setAttribute('aria-required', 'true');
  const complaint = element('p', {
    id: error,
    class: 'error',
    role: 'alert',
  });
  const label = element('label', { for: id }, name, ...requiredMark(need));
  const title = field.title === name ? '' : field.title;
  const lines = [title, field.description, ...hints].filter((line) => line !== '');
  const about = note(lines.join(' · '), { id: described });
  const root = element('div', { class: 'field' }, label, about, input);
  return {
    ...own,
    root,
    focus: () => input.focus(),
    read: () => {
      complaint.remove();
      input.removeAttribute('aria-invalid');
      const entered = own.read();
      if (typeof entered !== 'string') return entered;
      complaint.textContent = entered;
      root.append(complaint);
      input.setAttribute('aria-invalid', 'true');
      return wrong;
    },
  };
}

/** The space separates the two words for a screen reader. */
function requiredMark(need: Need): (Node | string)[] {
  return need === 'required' ? [' ', element('span', { class: 'required' }, said`required`)] : [];
}

function line(name: string, need: Need, field: LineField): Control {
  const { kind } = field;
  const format = kind === 'text' ? field.format : undefined;
  const input = inputOf(field, format);
  const initial = need === 'optional' ? undefined : field.initial;
  if (kind !== 'text' && initial !== undefined) input.value = JSON.stringify(initial);
  // A text field ignores a default of another type.
  if (kind === 'text' && typeof initial === 'string') {
    input.value = format === undefined ? initial : (enteredText(format, initial) ?? '');
  }
  return framed({
    input,
    name,
    need,
    field,
    hints: hintsOf(field),
    draft: () => input.value,
    restore: (draft) => {
      if (typeof draft === 'string' || typeof draft === 'number') input.value = String(draft);
    },
    read: () => {
      if (input.validity.badInput)
        return format === undefined
          ? said`This is not a number.`
          : translated(inputs[format].wrong);
      if (input.value === '' && need === 'optional') return absent;
      if (input.value === '' && !(kind === 'text' && field.initial === ''))
        return emptyError(field);
      return readLine(field, input.value);
    },
  });
}

function inputOf({ kind, initial }: LineField, format: Format | undefined) {
  const placeholder = initial === undefined ? undefined : said`default: ${JSON.stringify(initial)}`;
  if (format !== undefined)
    return element('input', {
      type: inputs[format].type,
      step: '1',
      placeholder,
    });
  if (kind === 'number')
    return element('input', {
      type: 'number',
      step: 'any',
      placeholder,
    });
  const rows = kind === 'json' ? '3' : '1';
  return element('textarea', {
    rows,
    spellcheck: 'false',
    placeholder,
  });
}

function readLine(field: LineField, entered: string): Entered | Complaint {
  switch (field.kind) {
    case 'text': {
      const { format } = field;
      const sent = format === undefined || entered === '' ? entered : sentText(format, entered);
      if (sent === undefined) return format ? translated(inputs[format].wrong) : '';
      return textError(field, sent) || value(sent);
    }
    case 'json':
      try {
        const parsed = JSON.parse(entered) as Json;
        return roundingError(entered) ?? value(parsed);
      } catch (error) {
        return said`This is not JSON: ${(error as SyntaxError).message}`;
      }
    case 'number':
      return (
        (roundingError(entered) ?? numberError(field, Number(entered))) || value(Number(entered))
      );
  }
}

function hintsOf(field: LineField): string[] {
  switch (field.kind) {
    case 'number':
      return [
        field.integer ? said`a whole number` : said`a number`,
        field.minimum === undefined ? '' : said`from ${field.minimum}`,
        field.maximum === undefined ? '' : said`up to ${field.maximum}`,
      ];
    case 'json':
      return [said`JSON: ${translated(field.accepts)}`];
    case 'text':
      // The page does not run the pattern, because some take forever (S2h). The server checks it.
      if (field.pattern !== '') return [said`pattern: ${field.pattern}`];
      return field.format?.includes('time') === true ? [said`in your time zone`] : [];
  }
}

function emptyError(field: LineField): string {
  const allowsEmpty = field.kind === 'text' && field.least === 0 && field.format === undefined;
  return allowsEmpty
    ? said`This is required. To send an empty text, use Edit as JSON.`
    : said`This is required.`;
}

function textError({ least, most }: Extract<Field, { kind: 'text' }>, entered: string): string {
  const length = [...entered].length;
  if (length < least) return said`At least ${least} characters.`;
  if (most !== undefined && length > most) return said`At most ${most} characters.`;
  return '';
}

function numberError(
  { integer, minimum, maximum }: Extract<Field, { kind: 'number' }>,
  entered: number,
): string {
  if (integer && !Number.isInteger(entered)) return said`This must be a whole number.`;
  if (minimum !== undefined && entered < minimum) return said`At least ${minimum}.`;
  if (maximum !== undefined && entered > maximum) return said`At most ${maximum}.`;
  return '';
}

function flag(name: string, field: Field): Control {
  const box = element('input', { type: 'checkbox' });
  box.checked = field.initial === true;
  const made = framed({
    input: box,
    name,
    need: 'item',
    field,
    draft: () => box.checked,
    restore: (draft) => {
      if (typeof draft === 'boolean') box.checked = draft;
    },
    read: () => value(box.checked),
  });
  made.root.prepend(box);
  made.root.classList.add('flag');
  return made;
}

function choice(name: string, need: Need, field: Field, options: readonly Option[]): Control {
  const usual = JSON.stringify(field.initial);
  const unset = usual === undefined ? said`not set` : said`not set (default: ${usual})`;
  const none = need === 'optional' ? unset : said`Choose…`;
  const select = element('select', {}, element('option', { value: '' }, none));
  options.forEach(({ label }, index) =>
    select.append(element('option', { value: String(index) }, label)),
  );
  if (need !== 'optional') {
    const initial =
      options.length === 1 ? 0 : options.findIndex((option) => option.value === field.initial);
    if (initial >= 0) select.value = String(initial);
  }
  const chosenOption = (): Option | undefined =>
    select.value === '' ? undefined : options[Number(select.value)];
  return framed({
    input: select,
    name,
    need,
    field,
    draft: () => chosenOption()?.label ?? '',
    restore: (draft) => {
      const index = options.findIndex(({ label, value: own }) => label === draft || own === draft);
      if (index >= 0 || draft === '') select.value = index < 0 ? '' : String(index);
    },
    read: () => {
      const chosen = chosenOption();
      if (chosen) return value(chosen.value);
      return need === 'optional' ? absent : said`Choose one.`;
    },
  });
}

function members(all: readonly Member[]): Control {
  const controls = all.map(({ name, required, field }) => ({
    name,
    own: control(name, required ? 'required' : 'optional', field),
  }));
  return {
    root: element('div', { class: 'members' }, ...controls.map(({ own }) => own.root)),
    focus: () => controls[0]?.own.focus(),
    draft: () => Object.fromEntries(controls.map(({ name, own }) => [name, own.draft()])),
    restore: (draft) => {
      if (!isObject(draft)) return;
      for (const { name, own } of controls)
        if (Object.hasOwn(draft, name)) own.restore(draft[name] as Json);
    },
    read: () => {
      // Reads every field, so that all errors show at once.
      const entered = controls.map(({ name, own }) => ({ name, read: own.read() }));
      if (entered.some(({ read }) => read.kind === 'wrong')) return wrong;
      const present = entered.flatMap(({ name, read }) =>
        read.kind === 'value' ? [[name, read.value] as const] : [],
      );
      return present.length === 0 ? absent : value(Object.fromEntries(present));
    },
  };
}

const filled = (entered: Entered): Entered => (entered.kind === 'absent' ? value({}) : entered);

function group(name: string, need: Need, field: Extract<Field, { kind: 'group' }>): Control {
  // The parts of an optional object are required only if it is given. The server checks this.
  const isOptional = need === 'optional';
  const inner = members(
    field.members.map((member) => ({ ...member, required: !isOptional && member.required })),
  );
  const read = (): Entered => (isOptional ? inner.read() : filled(inner.read()));
  return {
    ...inner,
    root: fieldset(name, need, field, inner.root),
    read,
  };
}

function fieldset(
  name: string,
  need: Need,
  field: Field,
  ...content: HTMLElement[]
): HTMLFieldSetElement {
  const legend = element('legend', {}, name, ...requiredMark(need));
  const about = field.description === '' ? [] : [note(field.description)];
  return element('fieldset', {}, legend, ...about, ...content);
}

function list(name: string, need: Need, field: Extract<Field, { kind: 'list' }>): Control {
  const rows: { readonly control: Control; readonly number: number }[] = [];
  const container = element('div', { class: 'items' });
  const add = button(said`Add to ${name}`, () => append().focus(), { class: 'secondary' });
  const root = fieldset(name, need, field, container, add);
  const limit = (): void => {
    add.disabled = field.most !== undefined && rows.length >= field.most;
  };
  function append(): Control {
    // The other items keep their numbers when one is removed.
    const number = (rows.at(-1)?.number ?? 0) + 1;
    const row = { control: control(`${name} ${number}`, 'item', field.item), number };
    const taken = (): void => {
      rows.splice(rows.indexOf(row), 1);
      item.remove();
      limit();
      add.focus();
    };
    const remove = button('Remove', taken, {
      class: 'secondary',
      'aria-label': said`Remove ${name} ${number}`,
    });
    const item = element('div', { class: 'item' }, row.control.root, remove);
    rows.push(row);
    container.append(item);
    limit();
    return row.control;
  }
  if (need !== 'optional') for (let count = 0; count < field.least; count++) append();
  return {
    root,
    focus: () => (rows[0] ? rows[0].control.focus() : add.focus()),
    draft: () => rows.map((row) => row.control.draft()),
    restore: (draft) => {
      if (!Array.isArray(draft)) return;
      for (const [index, one] of (draft as readonly Json[]).entries())
        (rows[index]?.control ?? append()).restore(one);
    },
    read: () => {
      const entered = rows.map((row) => row.control.read());
      if (entered.some(({ kind }) => kind === 'wrong')) return wrong;
      if (entered.length === 0 && need === 'optional') return absent;
      return value(entered.flatMap((each) => (each.kind === 'value' ? [each.value] : [])));
    },
  };
}
