/**
 * Asks about documents. A message hides after 10 s, too short for reading, so buttons in the title
 * answer too.
 */
import { english, translated } from '../../../core/base/language.js';
import * as vscode from 'vscode';
import type { CommandName } from '../../../../build/commands.js';
import { inert, type Inert } from '../../../core/base/inert.js';
import { commands, tell, window, type InertItem } from '../inertEditor.js';
import type { ReadOnlyDocuments } from './readOnlyDocuments.js';

/** The open questions by the addresses of their documents, which other extensions cannot guess. */
const open = new Map<string, (command: string) => void>();

interface ReviewQuestion<One> {
  readonly now: string;
  readonly before: string | undefined;
  readonly documents: ReadOnlyDocuments;
  readonly yes: 'Approve' | 'Accept';
  readonly question: Inert;
  /** Names one of several in the choice behind *Choose…*. */
  readonly item: (one: One) => InertItem;
  readonly pick: { readonly placeHolder: Inert; readonly title?: Inert };
}

export async function agreedInReview<One>(
  all: readonly One[],
  review: ReviewQuestion<One>,
): Promise<readonly One[] | undefined> {
  const { documents, yes, question, item, pick } = review;
  const shown = await showReview(review);
  const several = all.length > 1;
  const agree = several ? (`${yes} All` as const) : yes;
  const asked = several
    ? window.showInformationMessage(question, agree, 'Choose…', 'Not Now')
    : window.showInformationMessage(question, agree, 'Not Now');
  const answer = await answerBeside<string>([shown], asked, agree);
  const items = all.map((one) => ({ ...item(one), one }));
  const chosen =
    answer === 'Choose…'
      ? await window.showQuickPick(items, { canPickMany: true, ...pick })
      : undefined;
  if (answer !== undefined) await documents.closeTabs();
  return answer === agree ? all : chosen?.map(({ one }) => one);
}

/** `package.json` has the same names of files, in each language. */
const reviewNames = {
  Approve: {
    now: english`MCP servers, to be approved.txt`,
    before: english`MCP servers, approved before.txt`,
    both: english`MCP servers: approved before ↔ to be approved`,
  },
  Accept: {
    now: english`MCP tools, to be accepted.txt`,
    before: english`MCP tools, accepted before.txt`,
    both: english`MCP tools: accepted before ↔ to be accepted`,
  },
} as const;

async function showReview({
  documents,
  now,
  before,
  yes,
}: ReviewQuestion<never>): Promise<vscode.Uri> {
  const names = reviewNames[yes];
  const name = translated(names.now);
  if (before !== undefined) {
    const earlier = [translated(names.before), before] as const;
    return documents.compare(earlier, [name, now], translated(names.both));
  }
  await documents.closeTabs();
  const page = documents.add(name, now);
  // Half of a window would fold its lines again.
  await vscode.window.showTextDocument(page, { preview: false });
  return page;
}

/**
 * @param yes the answer of the only button, or the answers of several by the names of their
 * commands
 */
export async function answerBeside<Answer extends string>(
  documents: readonly vscode.Uri[],
  asked: Thenable<Answer | undefined>,
  yes: NoInfer<Answer> | Readonly<Record<string, NoInfer<Answer>>>,
): Promise<Answer | undefined> {
  const agreed = new Promise<Answer>((resolve) => {
    const answerTo = (command: string): void => {
      const answer = typeof yes === 'string' ? yes : yes[command];
      if (answer !== undefined) resolve(answer);
    };
    for (const uri of documents) open.set(uri.toString(), answerTo);
  });
  try {
    return await Promise.race([asked, agreed]);
  } finally {
    for (const uri of documents) open.delete(uri.toString());
  }
}

const names: readonly CommandName[] = [
  'approveShown',
  'acceptShown',
  'importShown',
  'writeShown',
  'allowShown',
  'allowAllShown',
  'refuseShown',
];

/**
 * Registers the commands of the buttons. The editor takes the label of a button from its command,
 * so each label has one.
 */
export function registerReviewAnswers(): vscode.Disposable {
  const answerAs = (name: string) => (shown: unknown) => {
    const answer = shown instanceof vscode.Uri ? open.get(shown.toString()) : undefined;
    if (answer) answer(name);
    else tell(inert`This question was already answered, or the review has ended.`);
  };
  return commands(Object.fromEntries(names.map((name) => [name, answerAs(name)])));
}
