/** Asks several questions in a row as quick inputs, each with a way back. */
import * as vscode from 'vscode';
import { inert, type Inert } from '../../core/base/inert.js';
import { createInputBox, createQuickPick, type InertItem } from '../views/inertEditor.js';

/** The end of a step: an answer, a step back, or a closed input. */
export type Answer<Value> =
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'back' }
  | { readonly kind: 'left' };

interface Step {
  readonly title: Inert;
  readonly step: number;
  readonly of: number;
}

interface TextStep extends Step {
  readonly prompt: Inert;
  readonly placeholder?: Inert;
  readonly value: string;
  readonly validate: (text: string) => string | undefined;
}

export function askText(step: TextStep): Promise<Answer<string>> {
  const input = createInputBox();
  input.prompt = step.prompt;
  if (step.placeholder !== undefined) input.placeholder = step.placeholder;
  input.value = step.value;
  const problemOf = (text: string): Inert | undefined => {
    const problem = step.validate(text);
    return problem === undefined ? undefined : inert`${problem}`;
  };
  const answers = prepared<string>(input, step);
  // An empty field shows no error before the first input.
  input.onDidChangeValue((text) => (input.validationMessage = problemOf(text)));
  input.onDidAccept(() => {
    input.validationMessage = problemOf(input.value);
    if (input.validationMessage === undefined) answers.settle({ kind: 'answered', value: input.value });
  });
  input.show();
  return answers.answer;
}

interface PickStep<Item extends InertItem> extends Step {
  readonly placeholder: Inert;
  readonly items: readonly Item[];
}

export function askPick<Item extends InertItem>(step: PickStep<Item>): Promise<Answer<Item>> {
  const pick = createQuickPick<Item>();
  pick.placeholder = step.placeholder;
  pick.items = step.items;
  pick.matchOnDescription = true;
  const answers = prepared<Item>(pick, step);
  pick.onDidAccept(() => {
    const [value] = pick.selectedItems;
    if (value) answers.settle({ kind: 'answered', value });
  });
  pick.show();
  return answers.answer;
}

function prepared<Value>(
  input: Omit<vscode.QuickInput, 'title'> & { title: Inert; buttons: readonly vscode.QuickInputButton[] } & Pick<
      vscode.InputBox,
      'onDidTriggerButton'
    >,
  { title, step, of }: Step,
): { answer: Promise<Answer<Value>>; settle: (answer: Answer<Value>) => void } {
  input.title = title;
  input.step = step;
  input.totalSteps = of;
  input.ignoreFocusOut = true;
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
