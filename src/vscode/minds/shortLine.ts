/** Makes a text one line of the chat, without its last full stop and cut if it is long. Everything here is pure. */
import { clipped } from '../../core/base/text.js';

export function shortLine(text: string): string {
  return clipped(text.replace(/\s+/g, ' ').trim().replace(/\.$/, ''), 301);
}
