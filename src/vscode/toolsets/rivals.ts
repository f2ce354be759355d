/** Finds servers that the workspace configures for the editor itself under the name of a toolset (G3a). */
import * as vscode from 'vscode';
import { join } from 'node:path';
import { largestConfigFile, readTextFile } from '../../core/base/textFile.js';
import { localFolders } from '../engine/configFiles.js';
import type { Rival } from './presence.js';

/** The files in a workspace folder. An extension cannot read the person's own `mcp.json`. */
const files = ['.vscode/mcp.json', '.mcp.json'];

/** The editor compares names without regard to case. */
export async function findRivals(label: string): Promise<Rival[]> {
  const { configuredLabels } = await import('./mcpJson.js');
  const paths = localFolders().flatMap(({ uri }) => files.map((file) => join(uri.fsPath, file)));
  const found = await Promise.all(
    paths.map(async (file) => {
      const text = await readTextFile(file, largestConfigFile).catch(() => '');
      return configuredLabels(text)
        .filter((rival) => rival.label.toLowerCase() === label.toLowerCase())
        .map((rival): Rival => ({
          label: rival.label,
          file: vscode.workspace.asRelativePath(file),
          place: { file, range: rival.range },
        }));
    }),
  );
  return found.flat();
}
