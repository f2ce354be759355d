import { readdirSync } from 'node:fs';
import path from 'node:path';

/** The notes of the gateways of a folder, by the path of its token file. Each name has an id. */
export function addressNotes(tokenFile: string): string[] {
  const { dir, name } = path.parse(tokenFile);
  return readdirSync(dir)
    .filter((file) => file.startsWith(`${name}.`) && file.endsWith('.address'))
    .map((file) => path.join(dir, file));
}
