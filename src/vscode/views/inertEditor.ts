/**
 * The only way to editor functions that show a text (S1d). `test/unit/inert.test.ts` refuses the
 * editor's own elsewhere.
 */
import * as vscode from 'vscode';
import type { CommandName } from '../../../build/commands.js';
import { formatted, inert, type Inert, type Markdown } from '../../core/base/inert.js';
import { speak, translated } from '../../core/base/language.js';
import { messageOf } from '../../core/base/text.js';

/** A text literal of our source, such as the label of a button. */
type Literal<Text extends string> = string extends Text ? never : Text;

interface Message {
  <Action extends string = never>(
    text: Inert,
    ...actions: Literal<Action>[]
  ): Thenable<Action | undefined>;
  <Action extends string = never>(
    text: Inert,
    options: { readonly modal: true; readonly detail: Inert },
    ...actions: Literal<Action>[]
  ): Thenable<Action | undefined>;
}

type Texts =
  | 'label'
  | 'description'
  | 'detail'
  | 'title'
  | 'placeHolder'
  | 'placeholder'
  | 'prompt'
  | 'text'
  | 'name';
type OtherTexts = 'tooltip' | 'message' | 'validationMessage';

/** A type of the editor with inert texts. */
type Inertly<Type> = {
  [Key in keyof Type]: Key extends Texts | OtherTexts ? Inert | Emptiness<Type[Key]> : Type[Key];
};

type Emptiness<Text> = Extract<Text, undefined>;

type With<Type, Parts> = Omit<Type, keyof Parts> & Parts;

export type InertItem = Inertly<Omit<vscode.QuickPickItem, 'buttons'>>;

type PickOptions = Inertly<
  Pick<vscode.QuickPickOptions, 'title' | 'placeHolder' | 'matchOnDescription' | 'matchOnDetail'>
>;

type StatusBarItem = With<
  Spoken<vscode.StatusBarItem>,
  { command: string | InertCommand; tooltip: vscode.MarkdownString }
>;

type TreeView<Row> = With<
  Inertly<vscode.TreeView<Row>>,
  { badge: { readonly value: number; readonly tooltip: Inert } | undefined }
>;

interface InertWindow {
  readonly showInformationMessage: Message;
  readonly showWarningMessage: Message;
  readonly showErrorMessage: Message;
  showQuickPick<Item extends InertItem>(
    items: readonly Item[],
    options: PickOptions & { readonly canPickMany: true },
  ): Thenable<Item[] | undefined>;
  showQuickPick<Item extends InertItem>(
    items: readonly Item[],
    options: PickOptions,
  ): Thenable<Item | undefined>;
  showInputBox(
    options: With<
      Inertly<vscode.InputBoxOptions>,
      { readonly validateInput?: (text: string) => Inert | undefined }
    >,
  ): Thenable<string | undefined>;
  showOpenDialog(options: {
    readonly title: Inert;
    readonly openLabel: string;
  }): Thenable<vscode.Uri[] | undefined>;
  showSaveDialog(
    options: Inertly<Pick<vscode.SaveDialogOptions, 'title' | 'filters'>>,
  ): Thenable<vscode.Uri | undefined>;
  withProgress<Result>(
    options: With<vscode.ProgressOptions, { readonly title: Inert }>,
    task: (
      progress: { report(value: { readonly message: Inert }): void },
      token: vscode.CancellationToken,
    ) => Thenable<Result>,
  ): Thenable<Result>;
  createInputBox(): Inertly<vscode.InputBox>;
  createQuickPick<Item extends InertItem>(): Inertly<vscode.QuickPick<Item & vscode.QuickPickItem>>;
  createStatusBarItem(
    id: string,
    alignment: vscode.StatusBarAlignment,
    priority: number,
  ): StatusBarItem;
  createTreeView<Row>(id: string, options: vscode.TreeViewOptions<Row>): TreeView<Row>;
  createWebviewPanel(
    type: string,
    title: Inert,
    column:
      | vscode.ViewColumn
      | { readonly viewColumn: vscode.ViewColumn; readonly preserveFocus: boolean },
    options: vscode.WebviewPanelOptions & vscode.WebviewOptions,
  ): vscode.WebviewPanel;
}

/** Shows the texts of buttons in the language of the person, and answers with the English ones. */
function message(show: typeof vscode.window.showInformationMessage): Message {
  return (async (text: string, ...more: (string | vscode.MessageOptions)[]) => {
    const words = more.map((one) => (typeof one === 'string' ? translated(one) : one));
    const answer = await show(text, ...(words as string[]));
    return answer === undefined ? undefined : more[words.indexOf(answer)];
  }) as Message;
}

const shown = vscode.window as unknown as InertWindow;

export const window: InertWindow = Object.create(shown, {
  showInformationMessage: { value: message(vscode.window.showInformationMessage) },
  showWarningMessage: { value: message(vscode.window.showWarningMessage) },
  showErrorMessage: { value: message(vscode.window.showErrorMessage) },
}) as InertWindow;

/** The editor reads the bundle before it activates the extension. */
export function speakTheirLanguage(): void {
  speak(vscode.env.language, vscode.l10n.bundle);
}

/** Runs a command of a person and shows its failure as an error message. Never rejects. */
export async function orShowFailure(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    void window.showErrorMessage(inert`${translated(messageOf(error))}`);
  }
}

/**
 * Registers commands of the table. Any extension can run them with any arguments. A failure becomes
 * an error message.
 */
export function commands(
  runs: Readonly<Partial<Record<CommandName, (...given: unknown[]) => unknown>>>,
): vscode.Disposable {
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

export async function choose<One>(
  all: readonly One[],
  options: PickOptions,
  itemOf: (one: One) => InertItem,
): Promise<One | undefined> {
  const items = all.map((one) => ({ ...itemOf(one), one }));
  return (await window.showQuickPick(items, options))?.one;
}

type Spoken<Type> = With<Inertly<Type>, { accessibilityInformation: { readonly label: Inert } }>;
type InertTreeItem = With<Spoken<vscode.TreeItem>, { tooltip: vscode.MarkdownString }>;
type InertCommand = Inertly<vscode.Command>;
type ItemLabel = { readonly label: Inert; readonly description: Inert };

interface InertClasses {
  readonly TreeItem: new (label: Inert, folding: vscode.TreeItemCollapsibleState) => InertTreeItem;
  readonly CodeLens: new (range: vscode.Range, command: InertCommand) => vscode.CodeLens;
  readonly CodeAction: new (title: Inert, kind: vscode.CodeActionKind) => vscode.CodeAction;
  readonly CompletionItem: new (
    label: ItemLabel,
    kind: vscode.CompletionItemKind,
  ) => vscode.CompletionItem;
  readonly Diagnostic: new (
    range: vscode.Range,
    text: Inert,
    severity: vscode.DiagnosticSeverity,
  ) => vscode.Diagnostic;
  readonly DiagnosticRelatedInformation: new (
    at: vscode.Location,
    text: Inert,
  ) => vscode.DiagnosticRelatedInformation;
  readonly DocumentSymbol: new (
    ...parts: [
      name: Inert,
      detail: Inert,
      kind: vscode.SymbolKind,
      whole: vscode.Range,
      key: vscode.Range,
    ]
  ) => vscode.DocumentSymbol;
  readonly Hover: new (text: vscode.MarkdownString, range: vscode.Range) => vscode.Hover;
}

const classes = vscode as unknown as InertClasses;
export const { TreeItem, CodeLens, CodeAction, CompletionItem, Diagnostic } = classes;
export const { DiagnosticRelatedInformation, DocumentSymbol, Hover } = classes;

/** The editor does not trust this Markdown, so links to commands do nothing. */
export function markdownString({ value }: Markdown, hasIcons = false): vscode.MarkdownString {
  return new vscode.MarkdownString(value, hasIcons);
}

/** Links in this Markdown run the named commands of ours, and no others. */
export function panelString(
  text: Markdown,
  names: ReadonlySet<CommandName>,
): vscode.MarkdownString {
  const panel = markdownString(text, true);
  panel.isTrusted = { enabledCommands: [...names].map((name) => `mcpToolsets.${name}`) };
  return panel;
}

/** The answer in a chat. The editor reads all of it as Markdown. */
export type InertStream = ReturnType<typeof inertStream>;

export function inertStream(stream: vscode.ChatResponseStream) {
  return {
    /** A tag: the words are our Markdown, and every value is made inert. */
    write: (...text: Parameters<typeof formatted>): void =>
      stream.markdown(formatted(...text).value),
    markdown: (text: Markdown | vscode.MarkdownString): void =>
      stream.markdown(text instanceof vscode.MarkdownString ? text : text.value),
    progress: ({ value }: Markdown): void => stream.progress(value),
    anchor: (uri: vscode.Uri, title: Inert): void => stream.anchor(uri, title),
    reference: (uri: vscode.Uri): void => stream.reference(uri),
    button: (command: InertCommand): void => stream.button(command),
  };
}
