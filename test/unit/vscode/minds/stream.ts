/** The editor's stream of an answer, written down: Markdown as it is, everything else as a line in angle brackets. */
import type * as vscode from 'vscode';

export class FakeStream {
  text = '';

  markdown(value: string | { value: string }): void {
    this.text += typeof value === 'string' ? value : value.value;
  }

  button({ title, command }: vscode.Command): void {
    this.text += `<button ${title}: ${command}>`;
  }

  get asEditor(): vscode.ChatResponseStream {
    return this as unknown as vscode.ChatResponseStream;
  }
}
