/** Translates the editor's requests about a config file for the core, and the answers back. */
import { english, said, translated } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { complete, type KnownTool, type Suggestion } from '../../core/authoring/completion.js';
import { hover, keysAt } from '../../core/authoring/hover.js';
import {
  outline,
  renamedInOther,
  renamedServer,
  serverAt,
  type OutlineEntry,
} from '../../core/authoring/outline.js';
import { QuickFixes, type QuickFix } from '../../core/authoring/quickFixes.js';
import { code, inert, formatted, markdownList, type Markdown } from '../../core/base/inert.js';
import type { Problem } from '../../core/base/problem.js';
import { sameAs } from '../../core/base/paths.js';
import { localFileOf } from '../../core/files/localFile.js';
import { leadsOutside, refuseOutside } from '../../core/files/realFiles.js';
import { agentFolder } from '../../core/team/agentFiles.js';
import { renamedInAgent, renamedInTeam } from '../../core/team/renaming.js';
import { mindsText } from '../../core/authoring/mindsText.js';
import { inLayer, movedToLayer } from '../../core/config/edit/layerEdits.js';
import { applyEdits, type TextEdit } from '../../core/yaml/edits.js';
import type { Span } from '../../core/yaml/textPositions.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { isLocalFile, localPath } from '../../core/config/sources.js';
import { configPath } from '../engine/configFiles.js';
import { fileLabel, toRange } from '../views/places.js';
import { diagnosticSource } from '../views/problems/diagnostics.js';
import {
  CodeAction,
  CodeLens,
  CompletionItem,
  DocumentSymbol,
  Hover,
  markdownString,
} from '../views/inertEditor.js';
import {
  failureText,
  overrideText,
  packageLine,
  present,
  previousLine,
  toolCount,
} from '../views/phrases.js';
import { areChangesForMe } from '../views/trees.js';
import { actions, filesOf, stateWord } from '../views/serverStates.js';
import { openDocument, openToEdit } from '../views/review/documents.js';
import { lenses } from './lensModel.js';
import { childEnvironment } from '../engine/childEnvironment.js';
import type { EngineSlot } from '../engine/engineSlot.js';

export type Authoring = ReturnType<typeof createAuthoring>;

type Document = vscode.TextDocument;

export function createAuthoring(slot: EngineSlot) {
  const fixesOf = rememberedFixes(slot);
  return {
    complete: (document: Document, at: vscode.Position) => completeAt(slot, document, at),
    hover: async (document: Document, at: vscode.Position) =>
      hoverAt(slot, document, at, await othersOf(slot, document)),
    fixes: async (document: Document, range: vscode.Range, context: vscode.CodeActionContext) => {
      const fixes = fixesOf(document, await othersOf(slot, document));
      return actionsAt(document, range, context, fixes, await layerOver(slot, document));
    },
    lenses: (document: Document): vscode.CodeLens[] => {
      const isHere = sameAs(document.uri.fsPath);
      const servers = slot.state.snapshot.servers.filter((one) => filesOf(one).some(isHere));
      return lenses(document.getText(), servers).map(
        ({ span, server, ...lens }) =>
          new CodeLens(rangeOf(document, span), { ...lens, arguments: [server] }),
      );
    },
    prepareRename,
    renameEdits,
    symbols: (document: Document) =>
      outline(document.getText()).map((entry) => toSymbol(document, entry)),
  };
}

function statusOf({ state }: EngineSlot, { uri }: Document, id: string): ServerStatus | undefined {
  return state.snapshot.servers.find(
    (server) => server.id === id && filesOf(server).some(sameAs(uri.fsPath)),
  );
}

type Others = ReadonlyMap<string, Document>;

/** Returns the layer over each server of a document, or the file below it if this is the layer. */
async function othersOf({ state }: EngineSlot, document: Document): Promise<Others> {
  const isHere = sameAs(document.uri.fsPath);
  const others = new Map<string, Document>();
  for (const server of state.snapshot.servers) {
    const { id, place, localPlace } = server;
    if (!localPlace || !filesOf(server).some(isHere)) continue;
    const file = isHere(localPlace.file) ? place.file : localPlace.file;
    const other = await openDocument(vscode.Uri.file(file)).catch(() => undefined);
    if (other && !isHere(file)) others.set(id, other);
  }
  return others;
}

type Layer = NonNullable<Awaited<ReturnType<typeof layerOver>>>;

/** Returns the layer over a file of the team, unless a link leads it elsewhere (S1c). */
async function layerOver({ sources }: EngineSlot, below: Document) {
  const { uri } = below;
  const isHere = sameAs(uri.fsPath);
  if (!sources.some(({ file, origin }) => origin === 'folder' && isHere(file))) return undefined;
  const file = localFileOf(uri.fsPath);
  if (leadsOutside(join(file, '../..'), file) !== undefined) return undefined;
  const there = existsSync(file) ? openDocument(vscode.Uri.file(file)) : undefined;
  const document = await there;
  return {
    file,
    document,
    texts: { shared: below.getText(), local: document?.getText() },
  };
}

function known(slot: EngineSlot, document: Document) {
  const variables = Object.entries(childEnvironment(process.env)).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  return {
    variables: variables.sort(),
    tools: (server: string) => knownTools(statusOf(slot, document, server)),
  };
}

async function completeAt(
  slot: EngineSlot,
  document: Document,
  position: vscode.Position,
): Promise<vscode.CompletionItem[]> {
  const suggestions = await complete(document.getText(), document.offsetAt(position), {
    ...known(slot, document),
    entries: async (path) => {
      const folder = join(folderOf(document), path);
      const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
      return found.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
    },
  });
  return suggestions.map((suggestion) => toItem(document, suggestion));
}

function hoverAt(
  slot: EngineSlot,
  document: Document,
  position: vscode.Position,
  others: Others,
): vscode.Hover | undefined {
  const found = hover(document.getText(), document.offsetAt(position), {
    ...known(slot, document),
    toolText: (server, name) => {
      const { tools = [] } = statusOf(slot, document, server) ?? {};
      const tool = tools.find(({ original }) => original === name);
      return tool && overrideText(tool);
    },
    serverState: (server) => stateText(statusOf(slot, document, server)),
    other: (server) => {
      const other = others.get(server);
      if (!other) return undefined;
      const label = code(fileLabel(other.uri.fsPath));
      return {
        text: textInOurForm(other),
        says: isLocalFile(other.uri.fsPath)
          ? formatted`Only for me, ${label} has`
          : formatted`${label} has`,
        redact: slot.redact,
      };
    },
  });
  return found && new Hover(markdownString(found.markdown), rangeOf(document, found.span));
}

export function textInOurForm(document: Document): string {
  return mindsText(document.uri.fsPath, document.getText());
}

type ReadFixes = ReturnType<typeof readFixes>;

function readFixes(slot: EngineSlot, document: Document, others: Others) {
  const isHere = sameAs(document.uri.fsPath);
  const problems = slot.state.snapshot.problems.filter(({ place }) => isHere(place.file));
  const folder = folderOf(document);
  const fixes = new QuickFixes(document.getText(), {
    ...known(slot, document),
    restartable: (server) => {
      const status = statusOf(slot, document, server);
      return status !== undefined && actions(status.state).includes('restartable');
    },
    isFree: (path) => {
      const free = resolve(folder, path);
      return !existsSync(free) && leadsOutside(folder, free) === undefined;
    },
    packageOf: (server) => statusOf(slot, document, server)?.package,
    below: (server) => {
      const other = isLocalFile(document.uri.fsPath) ? others.get(server) : undefined;
      return other && textInOurForm(other);
    },
  });
  return {
    problems,
    fixes,
    all: fixes.all(problems),
  };
}

/** Reads a document once, because the editor asks with every move of the cursor. */
function rememberedFixes(slot: EngineSlot): (document: Document, others: Others) => ReadFixes {
  let last: { of: readonly unknown[]; read: ReadFixes } | undefined;
  return (document, others) => {
    const below = [...others.values()].map(({ version }) => version).join();
    const of = [document.uri.fsPath, document.getText(), slot.state.snapshot, below];
    if (!last || of.some((part, index) => part !== last?.of[index]))
      last = { of, read: readFixes(slot, document, others) };
    return last.read;
  };
}

function actionsAt(
  document: Document,
  { start }: vscode.Range,
  { diagnostics, only }: vscode.CodeActionContext,
  { problems, fixes, all: safe }: ReadFixes,
  layer: Layer | undefined,
): vscode.CodeAction[] {
  // The editor follows links when it saves a fix (S1c).
  const isOutside = leadsOutside(folderOf(document), document.uri.fsPath) !== undefined;
  const all = isOutside ? [] : safe;
  const { SourceFixAll, QuickFix: quickFix } = vscode.CodeActionKind;
  if (only && !only.contains(quickFix)) {
    const kind = SourceFixAll.append('mcpToolsets');
    return only.contains(kind) ? allAtOnce(document, all, kind) : [];
  }
  // Problems of many tools may have the same fix.
  const offered = new Set<string>();
  const found = problems.flatMap((problem) => {
    const diagnostic = diagnostics.find((one) => isOf(one, problem));
    if (!diagnostic) return [];
    return fixes
      .for(problem)
      .filter(({ does }) => !isOutside || does.kind === 'command')
      .filter(({ does }) => offered.size !== offered.add(JSON.stringify(does)).size)
      .map((fix) => toAction(document, fix, diagnostic));
  });
  const offset = document.offsetAt(start);
  const toOverride = isOutside ? [] : fixes.at(offset);
  return [
    ...found,
    ...toOverride.flatMap((fix) =>
      layer && areChangesForMe() ? forMe(fix, layer) : [toAction(document, fix)],
    ),
    ...(layer && !isOutside ? moving(document, offset, layer) : []),
    ...(all.length > 1 && found.length > 0 ? allAtOnce(document, all, quickFix) : []),
  ];
}

/** Makes the edit in the layer instead. */
function forMe({ title, does }: QuickFix, layer: Layer): vscode.CodeAction[] {
  const edits = does.kind === 'edit' ? inLayer(layer.texts, does.edits) : undefined;
  return edits ? [layerAction(title, layer, edits)] : [];
}

/** Offers to move the key at an offset into the layer. */
function moving(document: Document, offset: number, layer: Layer): vscode.CodeAction[] {
  const path = keysAt(layer.texts.shared, offset).map(({ key }) => key);
  const moved = movedToLayer(layer.texts, path);
  if (moved === undefined) return [];
  const title = said`Move to My Local File`;
  if (typeof moved === 'string') {
    const action = new CodeAction(inert`${title}`, vscode.CodeActionKind.QuickFix);
    // The editor shows it with its reason if a person asks and there is no other.
    action.disabled = { reason: inert`${translated(moved)}` };
    return [action];
  }
  const edit = workspaceEdit(document, moved.shared);
  return [layerAction(title, layer, moved.local, edit)];
}

function layerAction(
  title: string,
  { file, document }: Layer,
  edits: readonly TextEdit[],
  edit = new vscode.WorkspaceEdit(),
): vscode.CodeAction {
  const action = new CodeAction(inert`${title}`, vscode.CodeActionKind.QuickFix);
  action.edit = edit;
  if (document) workspaceEdit(document, edits, edit);
  else {
    const uri = vscode.Uri.file(file);
    edit.createFile(uri, { ignoreIfExists: true });
    edit.replace(uri, new vscode.Range(0, 0, 0, 0), applyEdits('', edits));
    action.command = {
      command: 'mcpToolsets.keepOutOfGit',
      title,
      arguments: [file],
    };
  }
  return action;
}

function allAtOnce(
  document: Document,
  all: readonly TextEdit[],
  kind: vscode.CodeActionKind,
): vscode.CodeAction[] {
  if (all.length === 0) return [];
  const action = new CodeAction(inert`Apply all safe fixes`, kind);
  action.edit = workspaceEdit(document, all);
  return [action];
}

/** *Rename Symbol* at the id of a server (E2). Throws with a sentence if the place has no id. */
function prepareRename(
  document: Document,
  at: vscode.Position,
): { range: vscode.Range; placeholder: string } {
  const found = serverAt(document.getText(), document.offsetAt(at));
  if (!found) throw new Error(said`Place the cursor in the id of a server to rename it.`);
  return {
    range: rangeOf(document, found.keySpan),
    placeholder: found.id,
  };
}

async function renameEdits(
  document: Document,
  at: vscode.Position,
  to: string,
): Promise<vscode.WorkspaceEdit | undefined> {
  const found = serverAt(document.getText(), document.offsetAt(at));
  if (!found) return undefined;
  const folder = folderOf(document);
  // The editor follows links when it saves (S1c).
  refuseOutside(folder, document.uri.fsPath);
  const renamed = renamedServer(document.getText(), found.keySpan, to);
  if (typeof renamed === 'string') throw new Error(translated(renamed));
  const edit = workspaceEdit(document, renamed);
  const renaming = { from: found.id, to };
  const agents = join(folder, agentFolder);
  const names = (await readdir(agents).catch(() => [])).filter((name) =>
    name.endsWith('.agent.md'),
  );
  const others = [
    {
      path: join(folder, '.minds', 'team.yaml'),
      edits: renamedInTeam,
    },
    {
      path: join(folder, isLocalFile(document.uri.fsPath) ? configPath : localPath),
      edits: renamedInOther,
    },
    ...names.map((name) => ({ path: join(agents, name), edits: renamedInAgent })),
  ];
  for (const { path, edits } of others) {
    if (leadsOutside(folder, path) !== undefined) continue;
    const other = await openToEdit(path).catch(() => undefined);
    if (other) workspaceEdit(other, edits(other.getText(), renaming), edit);
  }
  return edit;
}

function knownTools(server: ServerStatus | undefined): KnownTool[] {
  if (!server) return [];
  return [
    ...server.tools.map(({ original, tool, override }) => {
      const { description = '', inputSchema } = override?.offered ?? tool;
      return {
        original,
        description,
        arguments: new Map(Object.entries(inputSchema.properties ?? {})),
      };
    }),
    ...server.excluded.map(({ original }) => ({
      original,
      description: '',
      arguments: new Map<string, unknown>(),
    })),
  ];
}

function stateText(server: ServerStatus | undefined): Markdown | undefined {
  if (!server) return undefined;
  const { state, previous, serverInfo } = server;
  const count = server.offered > 0 ? `, ${toolCount(server.tools.length, server.offered)}` : '';
  const lines = present([
    formatted`**${server.id}** ${stateWord(state)}${count}`,
    state.kind === 'failed' && failureText(state),
    previous && formatted`${previousLine(previous, Date.now())}`,
    serverInfo && formatted`${serverInfo.name} ${serverInfo.version}`,
    server.package && packageLine(server.package),
  ]);
  return markdownList(lines, '\n\n');
}

export function folderOf({ uri }: Document): string {
  return vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? dirname(dirname(uri.fsPath));
}

const itemKinds: Readonly<Record<Suggestion['kind'], vscode.CompletionItemKind>> = {
  key: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.Value,
  server: vscode.CompletionItemKind.Snippet,
  tool: vscode.CompletionItemKind.Function,
  pattern: vscode.CompletionItemKind.Operator,
  variable: vscode.CompletionItemKind.Variable,
  folder: vscode.CompletionItemKind.Folder,
  file: vscode.CompletionItemKind.File,
};

function toItem(document: Document, suggestion: Suggestion): vscode.CompletionItem {
  const { label, kind, detail, documentation, snippet, span, filter, order, andThen } = suggestion;
  const item = new CompletionItem(
    { label: inert`${label}`, description: inert`${detail}` },
    itemKinds[kind],
  );
  item.documentation = markdownString(documentation);
  item.insertText = new vscode.SnippetString(snippet);
  item.range = rangeOf(document, span);
  item.filterText = filter;
  item.sortText = order;
  if (andThen) item.command = { command: 'editor.action.triggerSuggest', title: 'Suggest' };
  return item;
}

function toSymbol(document: Document, entry: OutlineEntry): vscode.DocumentSymbol {
  const kind = entry.kind === 'server' ? vscode.SymbolKind.Module : vscode.SymbolKind.Property;
  const whole = rangeOf(document, entry.span);
  const key = rangeOf(document, entry.keySpan);
  const symbol = new DocumentSymbol(inert`${entry.name}`, inert`${entry.detail}`, kind, whole, key);
  symbol.children = entry.children.map((child) => toSymbol(document, child));
  return symbol;
}

function toAction(
  document: Document,
  fix: QuickFix,
  diagnostic?: vscode.Diagnostic,
): vscode.CodeAction {
  const action = new CodeAction(inert`${fix.title}`, vscode.CodeActionKind.QuickFix);
  if (diagnostic) action.diagnostics = [diagnostic];
  action.isPreferred = fix.preferred;
  const { does } = fix;
  if (does.kind === 'edit') action.edit = workspaceEdit(document, does.edits);
  if (does.kind === 'create') {
    action.edit = new vscode.WorkspaceEdit();
    const file = vscode.Uri.file(resolve(folderOf(document), does.path));
    action.edit.createFile(file, { ignoreIfExists: true });
    action.command = {
      command: 'vscode.open',
      title: fix.title,
      arguments: [file],
    };
  }
  if (does.kind === 'secret') {
    const text = document.getText();
    const { edits } = does;
    const editsOf = (now: string | undefined): readonly TextEdit[] => {
      // The person may edit the file before the value is entered.
      if (now !== text)
        throw new Error(english`The file has changed. The value is kept, so use the fix again.`);
      return edits;
    };
    const change = {
      file: document.uri.fsPath,
      root: folderOf(document),
      name: basename(document.fileName),
      editsOf,
    };
    action.command = {
      command: 'mcpToolsets.setSecret',
      title: fix.title,
      arguments: [does.name, ...(edits.length > 0 ? [change] : [])],
    };
  }
  if (does.kind === 'command') {
    action.command = {
      command: `mcpToolsets.${does.command}`,
      title: fix.title,
      arguments: [does.server],
    };
  }
  return action;
}

function isOf({ source, code, range }: vscode.Diagnostic, problem: Problem): boolean {
  const value = typeof code === 'object' ? code.value : code;
  return (
    source === diagnosticSource &&
    value === problem.code &&
    range.isEqual(toRange(problem.place.range))
  );
}

export function workspaceEdit(
  document: Document,
  edits: readonly TextEdit[],
  edit = new vscode.WorkspaceEdit(),
): vscode.WorkspaceEdit {
  for (const { span, text } of edits) edit.replace(document.uri, rangeOf(document, span), text);
  return edit;
}

export function rangeOf(document: Document, { start, end }: Span): vscode.Range {
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}
