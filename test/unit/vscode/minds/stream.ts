/**
 * The stream of an answer as text: Markdown for a person, and everything else as a line in angle
 * brackets.
 */
import { formatted } from '../../../../src/core/base/inert.js';
import type { InertStream } from '../../../../src/vscode/views/inertEditor.js';
import { read } from '../../../support/markdown.js';

export class FakeStream implements InertStream {
  text = '';

  write(...text: Parameters<typeof formatted>): void {
    this.markdown(formatted(...text));
  }

  markdown({ value }: { value: string }): void {
    this.text += read(value);
  }

  progress({ value }: { value: string }): void {
    this.text += `<progress ${read(value)}>`;
  }

  anchor(_: unknown, title: string): void {
    this.text += `<anchor ${title}>`;
  }

  reference(): void {}

  button({ title, command }: { title: string; command: string }): void {
    this.text += `<button ${title}: ${command}>`;
  }
}
