/** Asks several questions one after the other in the place of the quick pick, each with a way back. */
import * as vscode from 'vscode';

/** How a step ended: with an answer, with a wish to go back, or because it was closed. */
export type Answer<Value> =
  { readonly kind: 'answered'; readonly value: Value } | { readonly kind: 'back' } | { readonly kind: 'left' };

interface Step {
  readonly title: string;
  readonly step: number;
  readonly of: number;
}

interface TextStep extends Step {
  readonly prompt: string;
  readonly placeholder?: string;
  readonly value: string;
  /** Returns a sentence that says what is wrong with a text. */
  readonly validate: (text: string) => string | undefined;
}

export function askText(step: TextStep): Promise<Answer<string>> {
  const input = vscode.window.createInputBox();
  Object.assign(input, { prompt: step.prompt, placeholder: step.placeholder, value: step.value });
  const answers = prepared<string>(input, step);
  // An empty field shows no error until something was typed.
  input.onDidChangeValue((text) => (input.validationMessage = step.validate(text)));
  input.onDidAccept(() => {
    input.validationMessage = step.validate(input.value);
    if (input.validationMessage === undefined) answers.settle({ kind: 'answered', value: input.value });
  });
  input.show();
  return answers.answer;
}

interface PickStep<Item extends vscode.QuickPickItem> extends Step {
  readonly placeholder: string;
  readonly items: readonly Item[];
}

export function askPick<Item extends vscode.QuickPickItem>(step: PickStep<Item>): Promise<Answer<Item>> {
  const pick = vscode.window.createQuickPick<Item>();
  Object.assign(pick, { placeholder: step.placeholder, items: step.items, matchOnDescription: true });
  const answers = prepared<Item>(pick, step);
  pick.onDidAccept(() => {
    const [value] = pick.selectedItems;
    if (value) answers.settle({ kind: 'answered', value });
  });
  pick.show();
  return answers.answer;
}

function prepared<Value>(
  input: vscode.InputBox | vscode.QuickPick<vscode.QuickPickItem>,
  { title, step, of }: Step,
): { answer: Promise<Answer<Value>>; settle: (answer: Answer<Value>) => void } {
  Object.assign(input, { title, step, totalSteps: of, ignoreFocusOut: true });
  if (step > 1) input.buttons = [vscode.QuickInputButtons.Back];
  let settle: (answer: Answer<Value>) => void = () => undefined;
  const answer = new Promise<Answer<Value>>((resolve) => {
    settle = (given) => {
      resolve(given);
      input.dispose();
    };
  });
  input.onDidTriggerButton((button) => {
    if (button === vscode.QuickInputButtons.Back) settle({ kind: 'back' });
  });
  input.onDidHide(() => settle({ kind: 'left' }));
  return { answer, settle };
}
