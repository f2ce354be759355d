import path from 'node:path';
import { asMindsText } from '../config/read/mcprc.js';
import { mcprcPath } from '../config/sources.js';

/** Returns the text of a file with servers in the form of ours, also of `.mcprc`. */
export function mindsText(file: string, text: string): string {
  return path.basename(file) === mcprcPath ? asMindsText(text) : text;
}
