/** Names in a sentence, the first of them where there are many. Quote them as the sentence wants it. */
export function shortList(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
