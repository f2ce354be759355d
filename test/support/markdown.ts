/** Markdown without the backslashes of escaped characters. */
export function read(markdown: string | { readonly value: string }): string {
  const text = typeof markdown === 'string' ? markdown : markdown.value;
  return text.replace(/\\([!-/:-@[-`{-~])/g, '$1');
}
