/** Keeps what the last client of a folder declared, so the first instance of a server fits the next client (L4). */
import { homedir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { makePrivateFile } from '../core/base/privateFile.js';
import { largestConfigFile, readTextFile } from '../core/base/textFile.js';
import { tokenFileOf } from '../core/files/tokenFile.js';
import { storedJson } from '../core/protocol/json.js';
import { LastClient } from '../core/remembered/lastClient.js';

export async function lastClientOf(folder: string): Promise<LastClient> {
  const { dir, name } = path.parse(tokenFileOf(folder, homedir()));
  const file = path.join(dir, `${name}.client`);
  let last = storedJson(await readTextFile(file, largestConfigFile).catch(() => ''));
  return new LastClient({
    get: () => last,
    update: async (capabilities) => {
      last = capabilities;
      await makePrivateFile(file, `${JSON.stringify(capabilities)}\n`);
    },
    // Agents name the folder in which they work.
    roots: () => [{ uri: pathToFileURL(folder).href, name: path.basename(folder) }],
    usual: {},
  });
}
