/** The only way to editor functions that show a text (S1a). `test/unit/inert.test.ts` refuses the editor's own elsewhere. */
import * as vscode from 'vscode';
import { inert, type Inert, type Markdown } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';

/** A text literal of our source, such as the label of a button. */
type Literal<Text extends string> = string extends Text ? never : Text;

type MessageOptions = { readonly modal: true; readonly detail: Inert };

interface Message {
  <Action extends string = never>(text: Inert, ...actions: Literal<Action>[]): Thenable<Action | undefined>;
  <Action extends string = never>(
    text: Inert,
    options: MessageOptions,
    ...actions: Literal<Action>[]
  ): Thenable<Action | undefined>;
}

/** A type of the editor with other types of its texts. */
type With<Type, Texts> = Omit<Type, keyof Texts> & Texts;

export type InertItem = With<
  Omit<vscode.QuickPickItem, 'buttons'>,
  { readonly label: Inert; readonly description?: Inert; readonly detail?: Inert }
>;

type PickOptions = With<
  Pick<vscode.QuickPickOptions, 'matchOnDescription' | 'matchOnDetail'>,
  { readonly title?: Inert; readonly placeHolder: Inert }
>;

interface QuickPick {
  <Item extends InertItem>(
    items: readonly Item[],
    options: PickOptions & { readonly canPickMany: true },
  ): Thenable<Item[] | undefined>;
  <Item extends InertItem>(items: readonly Item[], options: PickOptions): Thenable<Item | undefined>;
}

type InputBoxOptions = With<
  Omit<vscode.InputBoxOptions, 'placeHolder' | 'valueSelection'>,
  { readonly title: Inert; readonly prompt: Inert; readonly validateInput?: (text: string) => Inert | undefined }
>;

type StatusBarItem = With<
  vscode.StatusBarItem,
  { text: Inert; tooltip: Inert; name: Inert; accessibilityInformation: { readonly label: Inert }; command: string }
>;

type TreeView<Row> = With<
  Omit<vscode.TreeView<Row>, 'title' | 'description'>,
  { message?: Inert; badge: { readonly value: number; readonly tooltip: Inert } | undefined }
>;

type InputTexts = { title: Inert; placeholder: Inert };

interface InertWindow {
  readonly showInformationMessage: Message;
  readonly showWarningMessage: Message;
  readonly showErrorMessage: Message;
  readonly showQuickPick: QuickPick;
  showInputBox(options: InputBoxOptions): Thenable<string | undefined>;
  showOpenDialog(options: { readonly title: Inert; readonly openLabel: string }): Thenable<vscode.Uri[] | undefined>;
  showSaveDialog(options: {
    readonly title: Inert;
    readonly filters: Record<string, string[]>;
  }): Thenable<vscode.Uri | undefined>;
  withProgress<Result>(
    options: With<vscode.ProgressOptions, { readonly title: Inert }>,
    task: (
      progress: { report(value: { readonly message: Inert }): void },
      token: vscode.CancellationToken,
    ) => Thenable<Result>,
  ): Thenable<Result>;
  createInputBox(): With<vscode.InputBox, InputTexts & { prompt: Inert; validationMessage: Inert | undefined }>;
  createQuickPick<Item extends InertItem>(): With<
    Omit<vscode.QuickPick<Item & vscode.QuickPickItem>, 'prompt'>,
    InputTexts
  >;
  createStatusBarItem(id: string, alignment: vscode.StatusBarAlignment, priority: number): StatusBarItem;
  createTreeView<Row>(id: string, options: vscode.TreeViewOptions<Row>): TreeView<Row>;
  createWebviewPanel(
    type: string,
    title: Inert,
    column: vscode.ViewColumn | { readonly viewColumn: vscode.ViewColumn; readonly preserveFocus: boolean },
    options: vscode.WebviewPanelOptions & vscode.WebviewOptions,
  ): vscode.WebviewPanel;
}

export const window: InertWindow = vscode.window as unknown as InertWindow;

/** Runs a command of a person and shows its failure as an error message. Never rejects. */
export async function orShowFailure(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    void window.showErrorMessage(inert`${messageOf(error)}`);
  }
}

/** Registers commands of ours. Any extension can run them with any arguments. A failure becomes an error message. */
export function commands(runs: Readonly<Record<string, (...given: unknown[]) => unknown>>): vscode.Disposable {
  const registered = Object.entries(runs).map(([name, run]) =>
    vscode.commands.registerCommand(`mcpToolsets.${name}`, (...given: unknown[]) =>
      orShowFailure(async () => void (await run(...given))),
    ),
  );
  return vscode.Disposable.from(...registered);
}

/** Returns undefined, so a function can end with it. */
export function tell(text: Inert): undefined {
  void window.showInformationMessage(text);
}

/** Resolves to one of several things; undefined if the person gives up. */
export async function choose<One>(
  all: readonly One[],
  options: PickOptions,
  itemOf: (one: One) => InertItem,
): Promise<One | undefined> {
  const items = all.map((one) => ({ ...itemOf(one), one }));
  return (await window.showQuickPick(items, options))?.one;
}

type InertTreeItem = With<
  Omit<vscode.TreeItem, 'label'>,
  { description?: Inert; tooltip: vscode.MarkdownString; accessibilityInformation: { readonly label: Inert } }
>;

type InertCommand = With<vscode.Command, { readonly title: Inert; readonly tooltip?: Inert }>;

/** A class of the editor with inert texts. */
function inertClass<Given extends unknown[], Made>(type: unknown) {
  return type as new (...given: Given) => Made;
}

type ItemLabel = { readonly label: Inert; readonly description: Inert };

export const TreeItem = inertClass<[Inert, vscode.TreeItemCollapsibleState], InertTreeItem>(vscode.TreeItem);
export const CodeLens = inertClass<[vscode.Range, InertCommand], vscode.CodeLens>(vscode.CodeLens);
export const CodeAction = inertClass<[Inert, vscode.CodeActionKind], vscode.CodeAction>(vscode.CodeAction);
export const CompletionItem = inertClass<[ItemLabel, vscode.CompletionItemKind], vscode.CompletionItem>(
  vscode.CompletionItem,
);
export const Diagnostic = inertClass<[vscode.Range, Inert, vscode.DiagnosticSeverity], vscode.Diagnostic>(
  vscode.Diagnostic,
);
export const DiagnosticRelatedInformation = inertClass<[vscode.Location, Inert], vscode.DiagnosticRelatedInformation>(
  vscode.DiagnosticRelatedInformation,
);
export const DocumentSymbol = inertClass<
  [name: Inert, detail: Inert, kind: vscode.SymbolKind, whole: vscode.Range, key: vscode.Range],
  vscode.DocumentSymbol
>(vscode.DocumentSymbol);
export const Hover = inertClass<[vscode.MarkdownString, vscode.Range], vscode.Hover>(vscode.Hover);

/** The editor does not trust this Markdown, so links to commands do nothing. */
export function markdownString({ value }: Markdown, hasIcons = false): vscode.MarkdownString {
  return new vscode.MarkdownString(value, hasIcons);
}

/** The answer in a chat. The editor reads all of it as Markdown. */
export interface InertStream {
  markdown(text: Markdown | vscode.MarkdownString): void;
  progress(text: Markdown): void;
  anchor(uri: vscode.Uri, title: Inert): void;
  reference(uri: vscode.Uri): void;
  button(command: InertCommand): void;
}

export function inertStream(stream: vscode.ChatResponseStream): InertStream {
  return {
    markdown: (text) => stream.markdown(text instanceof vscode.MarkdownString ? text : text.value),
    progress: ({ value }) => stream.progress(value),
    anchor: (uri, title) => stream.anchor(uri, title),
    reference: (uri) => stream.reference(uri),
    button: (command) => stream.button(command),
  };
}
