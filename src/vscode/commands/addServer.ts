/** *Add Server* (C6, E5): asks for the kind, the name and the file of the server. Loaded on demand. */
import * as vscode from 'vscode';
import { homedir } from 'node:os';
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
import { targetItems, textOf, writeServers, type TargetItem } from './configEdits.js';
import { offerToKeep } from '../authoring/enterSecret.js';
import { fileLabel } from '../views/fileLabels.js';
import { window, type InertItem } from '../views/inertEditor.js';

const title = inert`Add MCP Server`;

const kinds: readonly (InertItem & { readonly serverKind: NewServerKind })[] = [
  {
    label: inert`${new Icon('terminal')} Command`,
    description: inert`stdio`,
    detail: inert`A program on this machine`,
    serverKind: 'command',
  },
  {
    label: inert`${new Icon('globe')} URL`,
    description: inert`HTTP`,
    detail: inert`A server at an HTTP address`,
    serverKind: 'url',
  },
  {
    label: inert`${new Icon('package')} npm package`,
    description: inert`npx`,
    detail: inert`A package that npx -y starts`,
    serverKind: 'package',
  },
];

const questions = {
  command: {
    prompt: inert`The command line that starts the server`,
    placeholder: inert`npx -y some-server`,
    validate: validateCommand,
  },
  url: { prompt: inert`The URL of the server`, placeholder: inert`https://example.com/mcp`, validate: validateUrl },
  package: {
    prompt: inert`The npm package of the server`,
    placeholder: inert`@modelcontextprotocol/server-memory`,
    validate: validatePackage,
  },
} as const;

interface Draft {
  kind: NewServerKind;
  text: string;
  target: TargetItem;
  id: string;
}

export async function addServer(secrets: EnteredSecrets): Promise<void> {
  const targets = targetItems();
  const draft: Partial<Draft> = {};
  const steps: (() => Promise<Answer<unknown>['kind']>)[] = [
    async () =>
      take(
        await askPick({ step: 1, placeholder: inert`What kind of server is it?`, items: kinds }),
        ({ serverKind }) => {
          if (draft.kind !== serverKind) draft.text = '';
          draft.kind = serverKind;
        },
      ),
    async () => {
      const question = questions[draft.kind ?? 'command'];
      const answer = await askText({ step: 2, value: draft.text ?? '', ...question });
      return take(answer, (text) => (draft.text = text));
    },
    async () =>
      take(await askPick({ step: 3, placeholder: inert`Who is it for?`, items: targets }), (target) => {
        draft.target = target;
      }),
    async () => {
      const { kind = 'command', text = '', target } = draft;
      const taken = serverIds((target && (await textOf(target.target.file))) ?? '');
      const prompt = inert`The name of the server, and of its toolset`;
      const value = suggestedId(kind, text, taken);
      const validate = (id: string): string | undefined => validateId(id, taken);
      return take(await askText({ step: 4, prompt, value, validate }), (id) => (draft.id = id));
    },
  ];
  for (let at = 0; at < steps.length;) {
    const answer = await steps[at]?.();
    if (answer === 'left' || answer === undefined) return;
    at += answer === 'back' ? -1 : 1;
  }
  await write(draft as Draft, secrets);
}

function take<Value>(answer: Answer<Value>, keep: (value: Value) => void): Answer<Value>['kind'] {
  if (answer.kind === 'answered') keep(answer.value);
  return answer.kind;
}

async function write({ kind, text, target: { target }, id }: Draft, secrets: EnteredSecrets): Promise<void> {
  const folders = { folder: target.folder, home: homedir() };
  const held = heldIn(await textOf(target.file), (name) => secrets.get(name));
  const made = withSecretsApart(id, newEntry(kind, text), folders, held);
  if (!made) throw new Error('A command cannot be a secret. Write only the program first.');
  const editsOf = (before: string | undefined): readonly TextEdit[] => {
    const edits = addServers(before, [{ id, entry: made.entry }]);
    if (edits) return edits;
    throw new Error(`${fileLabel(target.file)} could not be changed. Correct its errors first.`);
  };
  await writeServers(target, editsOf, id);
  await offerToKeep(secrets, made.secrets);
}

type Answer<Value> =
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'back' }
  | { readonly kind: 'left' };

interface TextStep {
  readonly step: number;
  readonly prompt: Inert;
  readonly placeholder?: Inert;
  readonly value: string;
  readonly validate: (text: string) => string | undefined;
}

function askText({ step, prompt, placeholder, value, validate }: TextStep): Promise<Answer<string>> {
  const input = window.createInputBox();
  input.prompt = prompt;
  if (placeholder !== undefined) input.placeholder = placeholder;
  input.value = value;
  const check = (): void => {
    const problem = validate(input.value);
    input.validationMessage = problem === undefined ? undefined : inert`${problem}`;
  };
  // An empty field shows no error before the first input.
  input.onDidChangeValue(check);
  return ask(input, step, () => {
    check();
    return input.validationMessage === undefined ? input.value : undefined;
  });
}

interface PickStep<Item extends InertItem> {
  readonly step: number;
  readonly placeholder: Inert;
  readonly items: readonly Item[];
}

function askPick<Item extends InertItem>({ step, placeholder, items }: PickStep<Item>): Promise<Answer<Item>> {
  const pick = window.createQuickPick<Item>();
  pick.placeholder = placeholder;
  pick.items = items;
  pick.matchOnDescription = true;
  return ask(pick, step, () => pick.selectedItems[0]);
}

type Asking = Omit<vscode.QuickInput, 'title'> & { title: Inert } & Pick<
    vscode.InputBox,
    'buttons' | 'onDidAccept' | 'onDidTriggerButton'
  >;

/** @param accepted returns the answer, or undefined if it is not valid yet */
function ask<Value>(input: Asking, step: number, accepted: () => Value | undefined): Promise<Answer<Value>> {
  input.title = title;
  input.step = step;
  input.totalSteps = 4;
  input.ignoreFocusOut = true;
  if (step > 1) input.buttons = [vscode.QuickInputButtons.Back];
  return new Promise((resolve) => {
    const settle = (answer: Answer<Value>): void => {
      resolve(answer);
      input.dispose();
    };
    input.onDidAccept(() => {
      const value = accepted();
      if (value !== undefined) settle({ kind: 'answered', value });
    });
    input.onDidTriggerButton((button) => {
      if (button === vscode.QuickInputButtons.Back) settle({ kind: 'back' });
    });
    input.onDidHide(() => settle({ kind: 'left' }));
    input.show();
  });
}
