/** Makes elements of a page. Text is never parsed as HTML. */
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  for (const child of children) made.append(child);
  return made;
}

/** A short text beside another part. */
export function note(text: string, attributes: Attributes = {}): HTMLParagraphElement {
  return element('p', { class: 'note', ...attributes }, text);
}

export function button(
  text: string,
  run: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', run);
  return made;
}
