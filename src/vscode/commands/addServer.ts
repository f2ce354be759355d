/**
 * *Add Server* (C6): asks for the kind, the name and the file of the server. Loaded on demand.
 */
import { english, translated } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { homedir } from '../../core/base/home.js';
import { Icon, inert, type Inert } from '../../core/base/inert.js';
import { addServers } from '../../core/config/edit/addServers.js';
import {
  validateCommand,
  validateId,
  newEntry,
  validatePackage,
  suggestedId,
  validateUrl,
  type NewServerKind,
} from '../../core/config/edit/newServer.js';
import { serverIds } from '../../core/config/edit/serverEdits.js';
import { withSecretsApart } from '../../core/import/importServers.js';
import { heldIn } from '../../core/import/plan.js';
import type { TextEdit } from '../../core/yaml/edits.js';
import type { EnteredSecrets } from '../engine/enteredSecrets.js';
import { targets, textOf, writeServers, type Target } from './configEdits.js';
import { offerToKeep } from '../authoring/enterSecret.js';
import { fileLabel } from '../views/places.js';
import { window, type InertItem } from '../views/inertEditor.js';

interface Question {
  readonly prompt: Inert;
  readonly placeholder?: Inert;
  readonly validate: (text: string) => string | undefined;
}

type Kind = InertItem & Question & { readonly serverKind: NewServerKind };

const kinds: readonly [Kind, ...Kind[]] = [
  {
    serverKind: 'command',
    label: inert`${new Icon('terminal')} Command`,
    description: inert`stdio`,
    detail: inert`A program on this machine`,
    prompt: inert`The command line that starts the server`,
    placeholder: inert`npx -y some-server`,
    validate: validateCommand,
  },
  {
    serverKind: 'url',
    label: inert`${new Icon('globe')} URL`,
    description: inert`HTTP`,
    detail: inert`A server at an HTTP address`,
    prompt: inert`The URL of the server`,
    placeholder: inert`https://example.com/mcp`,
    validate: validateUrl,
  },
  {
    serverKind: 'package',
    label: inert`${new Icon('package')} npm package`,
    description: inert`npx`,
    detail: inert`A package that npx -y starts`,
    prompt: inert`The npm package of the server`,
    placeholder: inert`@modelcontextprotocol/server-memory`,
    validate: validatePackage,
  },
];

export async function addServer(secrets: EnteredSecrets): Promise<void> {
  let [kind] = kinds;
  let text = '';
  let target: Target | undefined;
  let id = '';
  const steps = [
    () =>
      askPick(1, inert`What kind of server is it?`, kinds, (picked) => {
        if (kind !== picked) text = '';
        kind = picked;
      }),
    () => askText(2, kind, text, (line) => (text = line)),
    () => askPick(3, inert`Who is it for?`, targets(), (picked) => (target = picked)),
    async () => {
      const taken = serverIds((target && (await textOf(target.file))) ?? '');
      const prompt = inert`The name of the server, and of its toolset`;
      const validate = (typed: string): string | undefined => validateId(typed, taken);
      return askText(
        4,
        { prompt, validate },
        suggestedId(kind.serverKind, text, taken),
        (typed) => (id = typed),
      );
    },
  ];
  for (let at = 0; at < steps.length;) {
    const move = await steps[at]?.();
    if (!move) return;
    at += move;
  }
  if (!target) return;
  const { file, folder } = target;
  const held = heldIn([(await textOf(file)) ?? ''], (name) => secrets.get(name));
  const made = withSecretsApart(
    id,
    newEntry(kind.serverKind, text),
    { folder, home: homedir() },
    held,
  );
  if (!made) throw new Error(english`A command cannot be a secret. Write only the program first.`);
  const editsOf = (before: string | undefined): readonly TextEdit[] => {
    const edits = addServers(before, [{ id, entry: made.entry }]);
    if (edits) return edits;
    throw new Error(english`${fileLabel(file)} could not be changed. Correct its errors first.`);
  };
  await writeServers(target, editsOf, id);
  await offerToKeep(secrets, made.secrets);
}

/** To the next step or back to the last one; 0 if the person gives up. */
type Move = 1 | -1 | 0;

function askText(
  step: number,
  question: Question,
  value: string,
  keep: (text: string) => void,
): Promise<Move> {
  const input = window.createInputBox();
  input.prompt = question.prompt;
  if (question.placeholder !== undefined) input.placeholder = question.placeholder;
  input.value = value;
  const check = (): boolean => {
    const problem = question.validate(input.value);
    input.validationMessage = problem === undefined ? undefined : inert`${translated(problem)}`;
    return problem === undefined;
  };
  // An empty field shows no error before the first input.
  input.onDidChangeValue(check);
  return ask(input, step, () => (check() ? input.value : undefined), keep);
}

function askPick<Item extends InertItem>(
  step: number,
  placeholder: Inert,
  items: readonly Item[],
  keep: (item: Item) => void,
): Promise<Move> {
  const pick = window.createQuickPick<Item>();
  pick.placeholder = placeholder;
  pick.items = items;
  pick.matchOnDescription = true;
  return ask(pick, step, () => pick.selectedItems[0], keep);
}

type QuestionInput = Pick<
  ReturnType<typeof window.createInputBox>,
  keyof vscode.QuickInput | 'buttons' | 'onDidAccept' | 'onDidTriggerButton'
>;

/** @param accepted returns the answer, or undefined if it is not valid yet */
function ask<Value>(
  input: QuestionInput,
  step: number,
  accepted: () => Value | undefined,
  keep: (value: Value) => void,
): Promise<Move> {
  input.title = inert`Add MCP Server`;
  input.step = step;
  input.totalSteps = 4;
  input.ignoreFocusOut = true;
  if (step > 1) input.buttons = [vscode.QuickInputButtons.Back];
  return new Promise<Move>((resolve) => {
    input.onDidAccept(() => {
      const value = accepted();
      if (value === undefined) return;
      keep(value);
      resolve(1);
    });
    // Back is the only button.
    input.onDidTriggerButton(() => resolve(-1));
    input.onDidHide(() => resolve(0));
    input.show();
  }).finally(() => input.dispose());
}
