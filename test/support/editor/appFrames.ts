/**
 * The apps in a window (G8), for tests inside the extension host: the texts of their pages, and
 * *Try Tool*, which opens them.
 */
import * as vscode from 'vscode';
import { page } from './bridge.ts';
import { until } from './product.ts';
import { inWebview } from './webviews.ts';

/** Waits for a text in the elements of the selector, with the lines of several elements joined. */
export async function untilShown(selector: string, pattern: RegExp): Promise<string> {
  return until(
    async () => (await page.texts(selector)).join('\n'),
    (text) => pattern.test(text),
    `${selector} like ${String(pattern)}`,
  );
}

/** Presses a button and waits for the text of its effect. */
export async function press(button: string, effect: string, pattern: RegExp): Promise<string> {
  await page.click(button);
  return untilShown(effect, pattern);
}

/** Runs a tool without arguments in *Try Tool*. Resolves when its app is shown. */
export async function tryApp(server: string, tool: string): Promise<void> {
  await vscode.commands.executeCommand('mcpToolsets.tryTool', server, tool);
  await untilShown(inWebview('h1'), new RegExp(`^${tool}$`));
  await page.click(inWebview('button:text-is("Run")'));
  await untilShown(inWebview('.result'), /Its app is shown beside/);
}
