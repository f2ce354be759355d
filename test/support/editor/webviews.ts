/** Selectors for what the pages of webviews hold, in suites inside the extension host and outside of it. */

const enter = ' >> internal:control=enter-frame >> ';

/**
 * A selector for what is inside a webview, by its place among those in sight: *Try Tool*, an app of the editor's chat, a
 * result. A place below zero counts from the last.
 */
export const inWebview = (selector: string, at = 0): string =>
  `iframe.webview.ready:visible >> nth=${at}${enter}#active-frame${enter}${selector}`;

/** The same for an app of a panel: its page stands in a frame of its own within it. Beside *Try Tool* it is the second webview. */
export const inPanelApp = (selector: string, at = 1): string => inWebview(`#app${enter}${selector}`, at);
