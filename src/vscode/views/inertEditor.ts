/**
 * The only way to editor functions that show a text (S1a). They take `Inert` or `Markdown`, so no text of a server or a file can
 * act as a link. `test/unit/inert.test.ts` refuses the editor's own functions elsewhere.
 */
import * as vscode from 'vscode';
import { inert, type Inert, type Markdown } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';

/** A text literal of our source, such as the label of a button. */
type Literal<Text extends string> = string extends Text ? never : Text;

interface MessageOptions {
  readonly modal: true;
  readonly detail: Inert;
}

interface Message {
  <Action extends string = never>(text: Inert, ...actions: Literal<Action>[]): Thenable<Action | undefined>;
  <Action extends string = never>(
    text: Inert,
    options: MessageOptions,
    ...actions: Literal<Action>[]
  ): Thenable<Action | undefined>;
}

export interface InertItem extends Omit<vscode.QuickPickItem, 'label' | 'description' | 'detail' | 'buttons'> {
  readonly label: Inert;
  readonly description?: Inert;
  readonly detail?: Inert;
}

interface PickOptions {
  readonly title?: Inert;
  readonly placeHolder: Inert;
  readonly matchOnDescription?: boolean;
  readonly matchOnDetail?: boolean;
}

interface QuickPick {
  <Item extends InertItem>(
    items: readonly Item[],
    options: PickOptions & { readonly canPickMany: true },
  ): Thenable<Item[] | undefined>;
  <Item extends InertItem>(items: readonly Item[], options: PickOptions): Thenable<Item | undefined>;
}

interface InputBoxOptions {
  readonly title: Inert;
  readonly prompt: Inert;
  readonly value?: string;
  readonly password?: boolean;
  readonly ignoreFocusOut?: boolean;
  readonly validateInput?: (text: string) => Inert | undefined;
}

interface ProgressOptions {
  readonly location: vscode.ProgressOptions['location'];
  readonly title: Inert;
  readonly cancellable?: boolean;
}

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
    options: ProgressOptions,
    task: (
      progress: { report(value: { readonly message: Inert }): void },
      token: vscode.CancellationToken,
    ) => Thenable<Result>,
  ): Thenable<Result>;
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

interface StatusBarItem extends Omit<
  vscode.StatusBarItem,
  'text' | 'tooltip' | 'name' | 'accessibilityInformation' | 'command'
> {
  text: Inert;
  tooltip: Inert;
  name: Inert;
  accessibilityInformation: { readonly label: Inert };
  command: string;
}

interface TreeView<Row> extends Omit<vscode.TreeView<Row>, 'message' | 'badge' | 'title' | 'description'> {
  message?: Inert;
  badge: { readonly value: number; readonly tooltip: Inert } | undefined;
}

interface InertTreeItem extends Omit<
  vscode.TreeItem,
  'label' | 'description' | 'tooltip' | 'accessibilityInformation'
> {
  description?: Inert;
  tooltip: vscode.MarkdownString;
  accessibilityInformation: { readonly label: Inert };
}

interface InertCommand {
  readonly title: Inert;
  readonly tooltip?: Inert;
  readonly command: string;
  readonly arguments?: unknown[];
}

export const TreeItem = vscode.TreeItem as unknown as new (
  label: Inert,
  folding: vscode.TreeItemCollapsibleState,
) => InertTreeItem;

export const CodeLens = vscode.CodeLens as unknown as new (
  range: vscode.Range,
  command: InertCommand,
) => vscode.CodeLens;

export const CodeAction = vscode.CodeAction as unknown as new (
  title: Inert,
  kind: vscode.CodeActionKind,
) => vscode.CodeAction;

export const CompletionItem = vscode.CompletionItem as unknown as new (
  label: { readonly label: Inert; readonly description: Inert },
  kind: vscode.CompletionItemKind,
) => vscode.CompletionItem;

export const Diagnostic = vscode.Diagnostic as unknown as new (
  range: vscode.Range,
  message: Inert,
  severity: vscode.DiagnosticSeverity,
) => vscode.Diagnostic;

export const DiagnosticRelatedInformation = vscode.DiagnosticRelatedInformation as unknown as new (
  location: vscode.Location,
  message: Inert,
) => vscode.DiagnosticRelatedInformation;

export const DocumentSymbol = vscode.DocumentSymbol as unknown as new (
  name: Inert,
  detail: Inert,
  kind: vscode.SymbolKind,
  range: vscode.Range,
  selection: vscode.Range,
) => vscode.DocumentSymbol;

export const Hover = vscode.Hover as unknown as new (
  contents: vscode.MarkdownString,
  range: vscode.Range,
) => vscode.Hover;

interface MarkdownOptions {
  readonly icons?: boolean;
  readonly baseUri?: vscode.Uri;
}

/** The editor does not trust this Markdown, so links to commands do nothing. */
export function markdownString({ value }: Markdown, { icons, baseUri }: MarkdownOptions = {}): vscode.MarkdownString {
  const string = new vscode.MarkdownString(value, icons);
  if (baseUri) string.baseUri = baseUri;
  return string;
}

export function createStatusBarItem(id: string, alignment: vscode.StatusBarAlignment, priority: number): StatusBarItem {
  return vscode.window.createStatusBarItem(id, alignment, priority) as unknown as StatusBarItem;
}

export function createTreeView<Row>(id: string, options: vscode.TreeViewOptions<Row>): TreeView<Row> {
  return vscode.window.createTreeView(id, options) as unknown as TreeView<Row>;
}

interface InertQuickInput {
  title: Inert;
  placeholder: Inert;
}

export function createInputBox(): Omit<vscode.InputBox, 'prompt' | 'placeholder' | 'title' | 'validationMessage'> &
  InertQuickInput & { prompt: Inert; validationMessage: Inert | undefined } {
  return vscode.window.createInputBox() as never;
}

export function createQuickPick<Item extends InertItem>(): Omit<
  vscode.QuickPick<Item & vscode.QuickPickItem>,
  'title' | 'placeholder' | 'prompt'
> &
  InertQuickInput {
  return vscode.window.createQuickPick() as never;
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
