/** Removes servers from an `mcp.json` of the editor, which prefers them to toolsets (G3i). Loaded on demand. */
import { dirname } from 'node:path';
import { inert } from '../../core/base/inert.js';
import { isBelow } from '../../core/base/paths.js';
import type { Problem } from '../../core/base/problem.js';
import { planRemoval } from '../../core/import/removeServers.js';
import { localFolders } from '../engine/configFiles.js';
import { fileLabel } from '../views/fileLabels.js';
import { textOf, writeEdits } from './configEdits.js';
import { agreedChange, asAgreed } from './previews.js';

export async function removeRivals(server: string, problems: readonly Problem[]): Promise<void> {
  const hidden = problems.find((problem) => problem.code === 'editor-toolset-hidden' && problem.server === server);
  const files = (hidden?.related ?? []).map(({ place }) => place.file);
  for (const file of new Set(files)) await removeServers(file, [server]);
}

export async function removeServers(file: string, names: readonly string[]): Promise<void> {
  const name = fileLabel(file);
  const agreed = await agreedChange({
    scheme: 'mcp-toolsets-removal',
    plan: async () => planRemoval((await textOf(file)) ?? '', names),
    preview: async (plan) =>
      plan.edits.length === 0
        ? undefined
        : { name: 'mcp.json', before: (await textOf(file)) ?? '', title: `${name}: after the removal` },
    question: (plan) => {
      const [first = '', ...more] = plan.names;
      const what = more.length === 0 ? `“${first}”` : `these ${plan.names.length} servers`;
      const shared = file.endsWith('.mcp.json') ? ' Claude Code reads this file too and loses them.' : '';
      return inert`Remove ${what} from ${name}? As long as the file has them, the editor uses them, not the toolsets.${shared}`;
    },
    yes: 'Remove',
  });
  if (!agreed || agreed.edits.length === 0) return;
  const folder = localFolders().find(({ uri }) => isBelow(file, uri.fsPath));
  await writeEdits({ file, root: folder?.uri.fsPath ?? dirname(file), name, editsOf: asAgreed(agreed, name) });
}
