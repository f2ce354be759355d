/**
 * The server form of VS Code with an agent host that tests can reach. It is a tree of hard links to
 * the usual form, with three changed files. The changes do not affect an agent host's work with
 * toolsets.
 */
import { existsSync } from 'node:fs';
import {
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { alone, installs } from '../support/installs.ts';
import { provisionServerForm, type ServerForm } from '../support/editor/provision.ts';

/** Names the address of the model for the agent host. */
export const modelVariable = 'MCP_TOOLSETS_AGENT_HOST_MODEL';

interface Patch {
  readonly file: string;
  /** Must match exactly once. */
  readonly find: RegExp;
  readonly put: (...groups: string[]) => string;
}

const patches: readonly Patch[] = [
  // In a browser the workbench reports no agent host, and on a desktop it reports one.
  {
    file: 'out/vs/code/browser/workbench/workbench.js',
    find: /super\(!\w+,(\w+,\w+,\w+\)\}\};\w+=\w+\(\[\w\(0,\w\),)/,
    put: (_, rest = '') => `super(!0,${rest}`,
  },
  // An agent host on a desktop reaches the models of extensions over a port between processes. This
  // form lacks the port.
  {
    file: 'out/vs/platform/agentHost/node/agentHostMain.js',
    find: /constructor\(\)\{(this\._entries=new Map;this\._changeListeners=new Set)\}onDidChangeModels/,
    put: (_, body = '') => `constructor(){${body};${scriptedModel}}onDidChangeModels`,
  },
  // The package has a native part, and installs without scripts do not build it. Node contains
  // SQLite too.
  {
    file: 'node_modules/@vscode/sqlite3/lib/sqlite3.js',
    find: /^[^]*$/,
    put: () => sqlite,
  },
];

const scriptedModel = `if(process.env.${modelVariable})this.register("scripted",{
  chat:async(asked)=>(await fetch(process.env.${modelVariable},{method:"POST",body:JSON.stringify(asked)})).json(),
  onDidChangeModels:(tell)=>{const timer=setTimeout(()=>tell([{vendor:"scripted",id:"scripted-host",name:"Scripted",modelIdentifier:"scripted/scripted-host",maxContextWindowTokens:200000,maxPromptTokens:180000,maxOutputTokens:16000,supportsVision:true}]),50);return{dispose(){clearTimeout(timer)}}},
})`.replaceAll('\n', '');

/** The part of `@vscode/sqlite3` for the agent host, over the SQLite of Node. */
const sqlite = `
const { DatabaseSync } = require('node:sqlite');
class Database {
  constructor(file, done) {
    let error = null;
    try { this.own = new DatabaseSync(file, { enableForeignKeyConstraints: false }); } catch (cause) { error = cause; }
    setImmediate(() => done?.call(this, error));
  }
  exec(sql, done) { this.#answer(done, () => void this.own.exec(sql)); }
  run(sql, values, done) { this.#answer(done, () => this.own.prepare(sql).run(...bound(values))); }
  get(sql, values, done) { this.#answer(done, () => ({ answer: this.own.prepare(sql).get(...bound(values)) })); }
  all(sql, values, done) { this.#answer(done, () => ({ answer: this.own.prepare(sql).all(...bound(values)) })); }
  close(done) { this.#answer(done, () => void this.own.close()); }
  // All of it is one after the other here.
  serialize(work) { work?.(); }
  #answer(done, work) {
    let error = null, found;
    try { found = work(); } catch (cause) { error = cause; }
    setImmediate(() => done?.call({ changes: found?.changes, lastID: found?.lastInsertRowid }, error, found?.answer));
  }
}
const bound = (values) => values.map((value) => value === undefined ? null : typeof value === 'boolean' ? Number(value) : value);
module.exports = { Database };
`;

/** Makes the missing parts. Returns within milliseconds if all are present. */
export async function provisionAgentHost(): Promise<ServerForm> {
  const form = await provisionServerForm();
  const parts = patches.map(({ file, find, put }) => `${file} ${find.source} ${put('', '')}`);
  const tag = createHash('sha256')
    .update([form.editorRoot, ...parts].join('\n'))
    .digest('hex')
    .slice(0, 12);
  const editorRoot = join(installs, `agent-host-${tag}`);
  await alone(async () => {
    if (existsSync(editorRoot)) return;
    console.log('Making an editor whose agent host is in reach …');
    const partial = `${editorRoot}.partial`;
    await rm(partial, { recursive: true, force: true });
    await linkTree(form.editorRoot, partial);
    for (const patch of patches) await apply(patch, partial);
    await rename(partial, editorRoot);
  });
  return { ...form, editorRoot };
}

async function linkTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkTree(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await link(source, target);
  }
}

async function apply({ file, find, put }: Patch, root: string): Promise<void> {
  const path = join(root, file);
  const text = await readFile(path, 'utf8');
  const found = [...text.matchAll(new RegExp(find.source, 'g'))].length;
  if (found !== 1)
    throw new Error(
      `${file} has ${found} places to patch: this is another editor than the one that is pinned`,
    );
  // A new file, because the present one is a link to the usual editor's file.
  await rm(path);
  await writeFile(
    path,
    text.replace(find, (...groups: string[]) => put(...groups)),
  );
}
