/** Tells a person why something that they asked for failed. */
import * as vscode from 'vscode';

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Runs what a person asked for, and shows a failure as an error message. Never rejects. */
export async function orShowFailure(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    void vscode.window.showErrorMessage(messageOf(error));
  }
}
