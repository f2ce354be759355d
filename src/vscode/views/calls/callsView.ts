/**
 * The view *Calls*: it reads the shared file of the folder. Only this window has input and output.
 */
import { plural, said, translated } from '../../../core/base/language.js';
import * as vscode from 'vscode';
import { toDisposable, type Disposable } from '../../../core/base/disposables.js';
import { inert } from '../../../core/base/inert.js';
import { asFields, isObject, type Fields } from '../../../core/base/isObject.js';
import { makePrivateFile } from '../../../core/base/privateFile.js';
import { jsonLines } from '../../../core/base/text.js';
import { isCall, type CallFact, type Fact } from '../../../core/calls/fact.js';
import { FactLog, type NumberedFact } from '../../../core/calls/factLog.js';
import { fits, parseFilter, type FactFilter } from '../../../core/calls/filter.js';
import { clearCalls, followCalls, mostFacts } from '../../../core/files/callFile.js';
import { hostSettings, onDidChangeSettings } from '../../engine/settings.js';
import type { EngineSlot } from '../../engine/engineSlot.js';
import type { Shell } from '../../engine/shell.js';
import { choose, commands, tell, window } from '../inertEditor.js';
import { present } from '../phrases.js';
import { asTimePasses, setContext, treeItem } from '../trees.js';
import { ReadOnlyDocuments } from '../review/readOnlyDocuments.js';
import {
  callRows,
  rowsBelow,
  type CallGrouping,
  type CallRow,
  type CallRowOptions,
} from './callRows.js';

const viewId = 'mcpToolsets.calls';

/** The rows in sight without scrolling. */
const newest = 20;

export function showCalls(
  { slot, clock, titles }: Shell,
  pages: CallPages,
  fileOf: () => string | undefined,
  fixArgument: FixArgument,
): Disposable {
  const log = new FactLog(mostFacts);
  const rows = new CallRows(log, () => ({
    now: clock.now(),
    titleOf: titles.of,
    hasContent: (fact) => slot.engine?.recorder.contents.get(fact) !== undefined,
  }));
  const view = window.createTreeView(viewId, { treeDataProvider: rows, showCollapseAll: true });
  let following: ReturnType<typeof followCalls> | undefined;
  const follow = (): void => {
    following?.dispose();
    following = undefined;
    const file = view.visible ? fileOf() : undefined;
    if (file === undefined) return;
    // The view may have missed a part of the file since it was last visible.
    log.take([], true);
    following = followCalls(file, clock, (lines, isWhole) => {
      log.take(lines, isWhole);
      rows.show();
    });
  };
  const clear = async (): Promise<void> => {
    const file = fileOf();
    if (file === undefined || !(await isClearingAgreed())) return;
    slot.engine?.recorder.contents.clear();
    await clearCalls(file, clock);
    await following?.readNow();
  };
  // `activate` must not wait for files (P1).
  const begin = setImmediate(() => {
    follow();
    rows.show();
  });
  return vscode.Disposable.from(
    view,
    registerForRows(rows, clear),
    registerForCalls(slot, pages, fixArgument),
    rows.onDidChangeTreeData(() => showAround(view, rows, log)),
    // With new first rows, a tree loses its place, and the editor does not report how far it is
    // scrolled.
    view.onDidChangeSelection(({ selection }) =>
      rows.hold(selection.some((row) => rows.isOlder(row))),
    ),
    view.onDidChangeVisibility(follow),
    titles.onDidChange(() => view.visible && rows.show()),
    onDidChangeSettings(['mcpToolsets.calls'], () => rows.show()),
    asTimePasses(clock, () => view.visible && log.all.length > 0 && rows.show()),
    toDisposable(() => {
      clearImmediate(begin);
      following?.dispose();
    }),
  );
}

/** Shows what stands around the rows: counts, a message and buttons. */
function showAround(
  view: ReturnType<typeof window.createTreeView<CallRow>>,
  rows: CallRows,
  log: FactLog,
): void {
  const { all } = log;
  setContext('callsWait', rows.waiting > 0);
  setContext('callsFiltered', rows.filterText !== '');
  setContext('hasCalls', all.length > 0);
  setContext('serverEvents', rows.showsEvents);
  const calls = all.filter(({ fact }) => isCall(fact)).length;
  const events = plural(all.length - calls, '1 server event', '{0} server events');
  view.description = inert`${plural(calls, '1 call', '{0} calls')} · ${events}`;
  const message = inert`${messageOf(rows)}`;
  if ((view.message ?? '') !== message) view.message = message;
}

/** Returns the line above the rows. */
function messageOf({ filterText, found, shown: all, waiting }: CallRows): string {
  if (!hostSettings.recordsCalls())
    return said`Calls are not recorded, because mcpToolsets.calls is off.`;
  const parts = [
    filterText !== '' && said`Filter: ${filterText} · ${found.length} of ${all.length}`,
    waiting > 0 &&
      plural(
        waiting,
        '1 new row waits while an older one is selected',
        '{0} new rows wait while an older one is selected',
      ),
  ];
  return present(parts).join(' · ');
}

async function isClearingAgreed(): Promise<boolean> {
  const question = inert`Remove the record of calls of this folder?`;
  const detail = inert`The record is shared by all programs that serve this folder. Exported files stay.`;
  const answer = await window.showWarningMessage(question, { modal: true, detail }, 'Clear');
  return answer !== undefined;
}

function registerForRows(rows: CallRows, clearCalls: () => Promise<void>): Disposable {
  return commands({
    showNewCalls: () => rows.hold(false),
    groupCalls: async () => {
      const options = { placeHolder: inert`Group the calls by` };
      const grouping = await choose(groupings, options, (one) => ({
        label: inert`${translated(one)}`,
      }));
      if (grouping) rows.groupBy(grouping);
    },
    showServerEvents: () => rows.showEvents(true),
    hideServerEvents: () => rows.showEvents(false),
    clearCallFilter: () => rows.filterBy(''),
    filterCalls: async () => (await import('./callFilter.js')).askForFilter(rows),
    exportCalls: async () => {
      const lines = jsonLines(rows.found.map(({ fact }) => fact));
      const filters = { 'JSON Lines': ['jsonl'] };
      const uri = await window.showSaveDialog({ title: inert`Export Calls`, filters });
      if (uri) await makePrivateFile(uri.fsPath, lines);
    },
    clearCalls,
  });
}

const groupings = ['time', 'conversation', 'server'] as const satisfies CallGrouping[];

type FixArgument = (toolset: string, tool: string, sent: unknown) => unknown;

function registerForCalls(
  slot: EngineSlot,
  pages: CallPages,
  fixArgument: FixArgument,
): Disposable {
  const execute = vscode.commands.executeCommand;
  const argumentsOf = (fact: CallFact): Fields | undefined => {
    const given = slot.engine?.recorder.contents.get(fact)?.given;
    return isObject(given) ? given : undefined;
  };
  const ofCall = (run: (fact: CallFact) => unknown) => (row: unknown) => {
    const fact = factOf(row);
    return fact && isCall(fact) && run(fact);
  };
  return commands({
    showCall: ofCall((fact) => execute('vscode.open', pages.of(fact), { preview: true })),
    tryCallAgain: ofCall((fact) =>
      execute('mcpToolsets.tryTool', fact.toolset, fact.tool, argumentsOf(fact) ?? {}),
    ),
    keepOutCalledTool: ofCall((fact) => execute('mcpToolsets.keepOutTool', rowFor(fact))),
    askNextTime: ofCall((fact) => execute('mcpToolsets.askBeforeCalls', rowFor(fact))),
    fixArgument: ofCall((fact) => {
      const { sent, given } = slot.engine?.recorder.contents.get(fact) ?? {};
      return fixArgument(fact.toolset, fact.original, sent ?? given);
    }),
    copyCallAsCommand: ofCall(async (fact) => {
      const given = argumentsOf(fact);
      const { callCommand } = await import('../../../core/calls/command.js');
      await vscode.env.clipboard.writeText(callCommand(fact.tool, given ?? {}, process.platform));
      if (!given) {
        tell(
          inert`The command has no arguments, because those of this call are not kept in this window.`,
        );
      }
    }),
    showCallInstance: async (row) => {
      const fact = factOf(row);
      if (fact?.instance === undefined) return;
      if (slot.engine?.recorder.isOwn(fact))
        await execute('mcpToolsets.revealInstance', fact.toolset, fact.instance);
      else tell(inert`Another program or an earlier window has started this instance.`);
    },
  });
}

/** The row of the tool, as the sidebar has it. */
function rowFor({ toolset: server, original, tool: published }: CallFact): object {
  const node = {
    server,
    original,
    published,
    ticked: true,
  };
  return { node };
}

export class CallPages extends ReadOnlyDocuments {
  constructor(private readonly slot: EngineSlot) {
    // `package.json` opens documents of this scheme as rendered Markdown.
    const gone = said`The input and output of this call are no longer kept.`;
    super({
      scheme: 'mcp-toolsets-call',
      gone,
      most: 500,
    });
  }

  of(fact: CallFact): vscode.Uri {
    const content = this.slot.engine?.recorder.contents.get(fact);
    // The chat shows the last segment of the path, so this is the name of the tool.
    const page = import('./callPage.js').then(
      ({ callPage }) => callPage(fact, content, this.slot.redact).value,
    );
    return this.add(fact.tool.replace(/[^\w-]/g, '_'), page);
  }
}

/** Another extension may run a command with any argument. */
function factOf(row: unknown): Fact | undefined {
  const fact = asFields(asFields(row)['fact']);
  return typeof fact['id'] === 'string' ? (fact as unknown as Fact) : undefined;
}

class CallRows implements vscode.TreeDataProvider<CallRow> {
  private readonly changes = new vscode.EventEmitter<CallRow | undefined>();
  private filter: FactFilter = {};
  filterText = '';
  /** The last shown fact; undefined if all are. */
  private heldAt: number | undefined;
  grouping: CallGrouping = 'time';
  showsEvents = false;

  readonly onDidChangeTreeData = this.changes.event;

  constructor(
    private readonly log: FactLog,
    private readonly options: () => Omit<CallRowOptions, 'grouping'>,
  ) {}

  filterBy(text: string): void {
    const read = parseFilter(text);
    this.filter = typeof read === 'string' ? {} : read;
    this.filterText = text;
    this.show();
  }

  get found(): readonly NumberedFact[] {
    return this.fitting.filter(({ number }) => number <= (this.heldAt ?? number)).reverse();
  }

  get waiting(): number {
    const { heldAt } = this;
    return heldAt === undefined ? 0 : this.fitting.filter(({ number }) => number > heldAt).length;
  }

  /** All facts of the kinds that the view shows. */
  get shown(): readonly NumberedFact[] {
    return this.log.all.filter(({ fact }) => this.showsEvents || isCall(fact));
  }

  private get fitting(): readonly NumberedFact[] {
    return this.shown.filter(({ fact }) => fits(this.filter, fact));
  }

  /** True if a person has probably scrolled to the selected row. */
  isOlder({ fact, below }: CallRow): boolean {
    return (
      below !== undefined || !this.found.slice(0, newest).some((one) => one.fact.id === fact?.id)
    );
  }

  /** Keeps new facts out of sight, or shows all. */
  hold(isHeld: boolean): void {
    this.heldAt = isHeld ? (this.heldAt ?? this.log.all.at(-1)?.number ?? -1) : undefined;
    this.show();
  }

  showEvents(areShown: boolean): void {
    this.showsEvents = areShown;
    this.show();
  }

  groupBy(grouping: CallGrouping): void {
    this.grouping = grouping;
    this.show();
  }

  show(): void {
    this.changes.fire(undefined);
  }

  getChildren(row?: CallRow): CallRow[] {
    const options = { ...this.options(), grouping: this.grouping };
    return row ? rowsBelow(row, options) : callRows(this.found, options);
  }

  getTreeItem(row: CallRow): vscode.TreeItem {
    const { Collapsed, None } = vscode.TreeItemCollapsibleState;
    const item = treeItem(row, row.below ? Collapsed : None);
    if (row.context.startsWith('call')) {
      item.command = {
        command: 'mcpToolsets.showCall',
        title: said`Show Call`,
        arguments: [row],
      };
    }
    return item;
  }
}
