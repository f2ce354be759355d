/** The apps that a window shows (G8), for tests inside the extension host: what is in their pages, and *Try Tool*, which opens them. */
import * as vscode from 'vscode';
import { page } from './bridge.ts';
import { until } from './product.ts';

const enter = ' >> internal:control=enter-frame >> ';

/** A selector for what is inside an app of the editor's chat, by its place among the webviews in sight. */
export const inChatApp = (selector: string, at = 0): string =>
  `iframe.webview.ready:visible >> nth=${at}${enter}#active-frame${enter}${selector}`;

/** What is inside the panel of *Try Tool*, which is the first webview. */
export const inTrial = (selector: string): string => inChatApp(selector);

/** The same for an app of a panel: its page stands in a frame of its own within it. Beside *Try Tool* it is the second webview. */
export const inPanelApp = (selector: string, at = 1): string => inChatApp(`#app${enter}${selector}`, at);

/** Waits for a text of what the selector finds, whole lines of several elements joined. */
export async function untilShown(selector: string, pattern: RegExp): Promise<string> {
  return until(
    async () => (await page.texts(selector)).join('\n'),
    (text) => pattern.test(text),
    `${selector} like ${String(pattern)}`,
  );
}

/** Presses a button and waits for the text that tells its effect. */
export async function press(button: string, effect: string, pattern: RegExp): Promise<string> {
  await page.click(button);
  return untilShown(effect, pattern);
}

/** Runs a tool without arguments in *Try Tool*. Resolves when its app is shown. */
export async function tryApp(server: string, tool: string): Promise<void> {
  await vscode.commands.executeCommand('mcpToolsets.tryTool', server, tool);
  await untilShown(inTrial('h1'), new RegExp(`^${tool}$`));
  await page.click(inTrial('button:text-is("Run")'));
  await untilShown(inTrial('.result'), /Its app is shown beside/);
}
