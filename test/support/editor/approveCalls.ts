import type * as vscode from 'vscode';

/**
 * Has the editor's own question before a call answered by yes, where the settings say so; once after each start of a
 * window. It may be sent to an extension host as source.
 */
export async function approveCalls({ commands }: Pick<typeof vscode, 'commands'>): Promise<void> {
  await commands.executeCommand('setContext', 'vscode.chat.tools.global.autoApprove.testMode', true);
}
