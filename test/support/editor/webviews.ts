/** Selectors for the pages of webviews, in suites inside the extension host and outside. */

const enter = ' >> internal:control=enter-frame >> ';

/**
 * A selector for the inside of a webview, by its index among the visible ones: *Try Tool*, an app
 * of the editor's chat, a result. A negative index counts from the last.
 */
export const inWebview = (selector: string, at = 0): string =>
  `iframe.webview.ready:visible >> nth=${at}${enter}#active-frame${enter}${selector}`;

/**
 * The same for an app of a panel. Its page is in a separate frame within the panel. Beside *Try
 * Tool* it is the second webview.
 */
export const inPanelApp = (selector: string, at = 1): string =>
  inWebview(`#app${enter}${selector}`, at);
