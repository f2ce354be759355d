/** Asks for the filter of the view *Calls*. Loaded on demand. */
import { isDeepStrictEqual } from 'node:util';
import { plural, translated } from '../../../core/base/language.js';
import { inert } from '../../../core/base/inert.js';
import { parseFilter } from '../../../core/calls/filter.js';
import { filterWords, withFilterWord } from '../../../core/calls/filterWords.js';
import type { NumberedFact } from '../../../core/calls/factLog.js';
import { window, type InertItem } from '../inertEditor.js';

interface FilteredRows {
  readonly filterText: string;
  readonly found: readonly NumberedFact[];
  readonly shown: readonly NumberedFact[];
  filterBy(text: string): void;
}

/** Filters the rows while the person types. Escape brings the earlier filter back. */
export function askForFilter(rows: FilteredRows): void {
  const input = window.createQuickPick<InertItem & { readonly word?: string }>();
  let accepted = rows.filterText;
  let shownItems: readonly InertItem[] = [];
  const show = (): void => {
    const read = parseFilter(input.value);
    const isWrong = typeof read === 'string';
    if (!isWrong) rows.filterBy(input.value.trim());
    const { found, shown } = rows;
    const facts = shown.map(({ fact }) => fact);
    const label = isWrong
      ? inert`${translated(read)}`
      : inert`Show ${found.length} of ${plural(shown.length, '1 row', '{0} rows')}`;
    const words = filterWords(input.value, facts).map((word) => ({ label: inert`${word}`, word }));
    const items = [{ label }, ...words];
    // A click counts for nothing if its row was replaced meanwhile.
    if (isDeepStrictEqual(items, shownItems)) return;
    shownItems = items;
    // The search of the editor would hide words.
    input.items = items.map((item) => ({ ...item, alwaysShow: true }));
  };
  input.title = inert`Filter Calls`;
  input.placeholder = inert`Words, such as tool:read, agent:codex, server:files, slow:2s or failed. All have to fit.`;
  input.value = accepted;
  input.onDidChangeValue(show);
  input.onDidAccept(() => {
    const word = input.selectedItems[0]?.word;
    if (word !== undefined) {
      input.value = withFilterWord(input.value, word);
      show();
    } else if (typeof parseFilter(input.value) !== 'string') {
      accepted = input.value.trim();
      input.hide();
    }
  });
  input.onDidHide(() => {
    rows.filterBy(accepted);
    input.dispose();
  });
  show();
  input.show();
}
