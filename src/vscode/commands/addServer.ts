/** *Add Server* (C6, E5): asks for the kind, the name and the file of the server. Loaded on demand. */
import { homedir } from 'node:os';
import { Icon, inert } from '../../core/base/inert.js';
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
import type { TextEdit } from '../../core/yaml/edits.js';
import type { EnteredSecrets } from '../engine/enteredSecrets.js';
import { textOf, writeServers } from './configEdits.js';
import { offerToKeep } from './keepSecrets.js';
import { fileLabel } from '../views/fileLabels.js';
import type { InertItem } from '../views/inertEditor.js';
import { askPick, askText, type Answer } from './steps.js';
import { targetItems, type TargetItem } from './targets.js';

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
  const of = 4;
  const steps: (() => Promise<Answer<unknown>['kind']>)[] = [
    async () =>
      take(
        await askPick({ title, step: 1, of, placeholder: inert`What kind of server is it?`, items: kinds }),
        ({ serverKind }) => {
          if (draft.kind !== serverKind) draft.text = '';
          draft.kind = serverKind;
        },
      ),
    async () => {
      const question = questions[draft.kind ?? 'command'];
      const answer = await askText({ title, step: 2, of, value: draft.text ?? '', ...question });
      return take(answer, (text) => (draft.text = text));
    },
    async () =>
      take(await askPick({ title, step: 3, of, placeholder: inert`Who is it for?`, items: targets }), (target) => {
        draft.target = target;
      }),
    async () => {
      const { kind = 'command', text = '', target } = draft;
      const taken = serverIds((target && (await textOf(target.target.file))) ?? '');
      const prompt = inert`The name of the server, and of its toolset`;
      const value = suggestedId(kind, text, taken);
      const validate = (id: string): string | undefined => validateId(id, taken);
      return take(await askText({ title, step: 4, of, prompt, value, validate }), (id) => (draft.id = id));
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
  const made = withSecretsApart(id, newEntry(kind, text), folders);
  if (!made) throw new Error('A command cannot be a secret. Write only the program first.');
  const editsOf = (before: string | undefined): readonly TextEdit[] => {
    const edits = addServers(before, [{ id, entry: made.entry }]);
    if (edits) return edits;
    throw new Error(`${fileLabel(target.file)} could not be changed. Correct its errors first.`);
  };
  await writeServers(target, editsOf, id);
  await offerToKeep(secrets, made.secrets);
}
