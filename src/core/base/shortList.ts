/** Lists names in a sentence, cut after `most`. The caller quotes them. */
export function shortList(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
