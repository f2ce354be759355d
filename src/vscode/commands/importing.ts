/**
 * *Import Servers* (C6), and the removal of servers from an `mcp.json`, which the editor prefers
 * (G3i). Loaded on demand.
 */
import { english, plural, said } from '../../core/base/language.js';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { homedir } from '../../core/base/home.js';
import { Icon, inert } from '../../core/base/inert.js';
import { isBelow } from '../../core/base/paths.js';
import type { Problem } from '../../core/base/problem.js';
import { choose, window } from '../views/inertEditor.js';
import { largestForeignFile, readTextFile, utf8OrUtf16 } from '../../core/base/textFile.js';
import { dialects, formatOfPath, isOfEditor, knownFiles } from '../../core/import/dialects.js';
import { planImport } from '../../core/import/plan.js';
import { planRemoval } from '../../core/import/removeServers.js';
import { folderPaths } from '../engine/configFiles.js';
import type { EnteredSecrets } from '../engine/enteredSecrets.js';
import { agreedChange, targets, textOf, writeEdits, writeServers } from './configEdits.js';
import { offerToKeep } from '../authoring/enterSecret.js';
import { fileLabel } from '../views/places.js';

const title = inert`Import MCP Servers`;

export async function importServersInto(
  secrets: EnteredSecrets,
  given: string | undefined,
): Promise<void> {
  const file = given ?? (await chooseFile());
  if (file === undefined) return;
  const [only, ...others] = targets();
  const placeHolder = inert`Who are the servers for?`;
  const target =
    others.length === 0 ? only : await window.showQuickPick(targets(), { title, placeHolder });
  if (!target) return;
  const name = fileLabel(target.file);
  const isRead = isOfEditor(file, folderPaths());
  const agreed = await agreedChange({
    file: target.file,
    name,
    scheme: 'mcp-toolsets-import',
    plan: async () => {
      const plan = planImport({
        text: await readTextFile(file, largestForeignFile, utf8OrUtf16),
        file,
        label: fileLabel(file),
        config: await textOf(target.file),
        isOfEditor: isRead,
        valueOf: (name, isInput) => secrets.get(name) ?? (isInput ? process.env[name] : undefined),
        folders: { folder: target.folder, home: homedir() },
      });
      if (plan.kind === 'impossible')
        throw new Error(english`Nothing was imported: ${plan.reason}.`);
      return plan;
    },
    title: (name) => said`${name}: after the import`,
    report: ({ report }) => ['Import.md', `# ${said`Import`}\n\n${report}`],
    nothing: inert`${basename(file)} has no servers to import.`,
    question: ({ imported: { servers } }) =>
      inert`${plural(servers.length, 'Write this server to {1}?', 'Write these {0} servers to {1}?', name)}`,
    yes: 'Import',
  });
  if (!agreed) return;
  const { servers, secrets: found } = agreed.imported;
  await writeServers(target, agreed.editsOf, servers[0]?.id);
  await offerToKeep(secrets, found);
  const names = servers.map(({ written }) => written);
  if (isRead) await removeServers(file, names);
}

async function chooseFile(): Promise<string | undefined> {
  const files = knownFiles({
    folders: folderPaths(),
    home: homedir(),
    platform: process.platform,
    appData: process.env['APPDATA'],
    configHome: process.env['XDG_CONFIG_HOME'],
  });
  const found = await Promise.all(files.map((file) => stat(file).catch(() => undefined)));
  const known = files.filter((_, index) => found[index]?.isFile());
  const placeHolder =
    known.length > 0
      ? inert`Choose a file of another program`
      : inert`No file of another program was found`;
  const other = '';
  const chosen = await choose([...known, other], { title, placeHolder }, (file) => {
    if (file === other) return { label: inert`${new Icon('folder-opened')} Choose a File…` };
    const format = formatOfPath(file);
    return {
      label: inert`${format ? dialects[format].program : ''}`,
      description: inert`${fileLabel(file)}`,
    };
  });
  if (chosen !== other) return chosen;
  const [picked] = (await window.showOpenDialog({ title, openLabel: said`Import` })) ?? [];
  return picked?.fsPath;
}

export async function removeRivals(server: string, problems: readonly Problem[]): Promise<void> {
  const hidden = problems.find(
    (problem) => problem.code === 'editor-toolset-hidden' && problem.server === server,
  );
  const files = (hidden?.related ?? []).map(({ place }) => place.file);
  for (const file of new Set(files)) await removeServers(file, [server]);
}

async function removeServers(file: string, names: readonly string[]): Promise<void> {
  const name = fileLabel(file);
  const agreed = await agreedChange({
    file,
    name,
    scheme: 'mcp-toolsets-removal',
    plan: async () => planRemoval((await textOf(file)) ?? '', names),
    title: (name) => said`${name}: after the removal`,
    question: (plan) => {
      const [first = '', ...more] = plan.names;
      const what = plural(more.length + 1, '“{1}”', 'these {0} servers', first);
      const question = inert`Remove ${what} from ${name}? As long as the file has them, the editor uses them, not the toolsets.`;
      if (file.endsWith('.mcp.json'))
        return inert`${question} Claude Code reads this file too and loses them.`;
      return file.endsWith('devcontainer.json')
        ? inert`${question} Rebuild the dev container after that, because it has a copy.`
        : question;
    },
    yes: 'Remove',
  });
  if (!agreed || agreed.edits.length === 0) return;
  const root = folderPaths().find((folder) => isBelow(file, folder)) ?? dirname(file);
  await writeEdits({
    file,
    root,
    name,
    editsOf: agreed.editsOf,
  });
}
