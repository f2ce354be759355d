import type * as vscode from 'vscode';

/**
 * Answers the editor's own question before a call with yes, if the settings say so. Call it once
 * after each start of a window. Its source may be sent to an extension host.
 */
export async function approveCalls({ commands }: Pick<typeof vscode, 'commands'>): Promise<void> {
  await commands.executeCommand(
    'setContext',
    'vscode.chat.tools.global.autoApprove.testMode',
    true,
  );
}
