/** Lists names in a sentence, and only the first of them where there are many. The caller quotes them as it needs. */
export function shortList(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
