/** Finds our texts for a person in the sources: the keys of the bundles in `l10n`. */
import ts from 'typescript-ast';
import { catalogue } from '../../src/core/base/problemCatalogue.js';
import { panelCommands } from '../../src/vscode/views/statusPanel.js';
import { serverDeeds } from '../../src/vscode/views/serverDeeds.js';
import { stateViews } from '../../src/vscode/views/serverStates.js';
import { modules, type Module } from './modules.js';

export interface SourceText {
  readonly key: string;
  readonly at: string;
}

const tags = /^(?:inert|formatted|said|english|advised|tag|[\w.\s]*\.write)$/;
const messages = /^window\.show(?:Information|Warning|Error)Message$/;

/** What joins texts, in the punctuation of a language. */
const separators = new Set(['{0}, {1}', '{0}: {1}', '{0}.']);

/** True if a text has a word or a unit of time, or joins texts, and not only signs, icons and places. */
export function hasWords(text: string): boolean {
  return (
    separators.has(text) ||
    /[A-Za-z]{2}|^ [dh]$/.test(text.replace(/\{\w+\}|\$\([\w~-]+\)|https?:\S+/g, ''))
  );
}

export function keyOf(template: ts.TemplateLiteral): string {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text;
  const spans = template.templateSpans.map(({ literal }, index) => `{${index}}${literal.text}`);
  return template.head.text + spans.join('');
}

/** The command line speaks English. */
export const isTranslated = ({ file }: Module): boolean => !/^src\/cli(\/|\.ts)/.test(file);

/** The rooms and modules of the core that make texts for a person. Their literals are keys too. */
const makers = [
  'agents/planEntries.ts',
  'apps/appResource.ts',
  'approval/offerPrints.ts',
  'authoring/outline.ts',
  'authoring/quickFixes.ts',
  'base/systemError.ts',
  'base/textFile.ts',
  'calls/',
  'catalogue/explain.ts',
  'config/edit/',
  'config/keys.ts',
  'config/problems.ts',
  'config/read/',
  'config/sources.ts',
  'connections/handshake.ts',
  'connections/http/answer.ts',
  'connections/http/attempt.ts',
  'connections/http/endpoint.ts',
  'connections/http/exchange.ts',
  'connections/http/oauth/answers.ts',
  'connections/http/oauth/discovery.ts',
  'connections/http/oauth/oauth.ts',
  'connections/http/oauth/renewal.ts',
  'connections/http/oauth/signIn.ts',
  'connections/http/refusals.ts',
  'connections/listing.ts',
  'connections/stdio/attempt.ts',
  'connections/stdio/valueCommands.ts',
  'failures/',
  'files/realFiles.ts',
  'import/forms.ts',
  'import/importServers.ts',
  'import/plan.ts',
  'import/readSource.ts',
  'import/translate.ts',
  'import/values.ts',
  'instances/instance.ts',
  'instances/limit.ts',
  'instances/pool.ts',
  'instances/starts.ts',
  'reconcile/appPages.ts',
  'reconcile/failure.ts',
  'reconcile/plan.ts',
  'reconcile/problems.ts',
  'reconcile/serverUnit.ts',
  'reconcile/status.ts',
  'team/team.ts',
  'tools/override.ts',
  'tools/permissions.ts',
  'tools/problems.ts',
  'tools/projection.ts',
  'tools/schemas.ts',
];

export const isMaker = ({ file }: Module): boolean =>
  makers.some((place) => file.startsWith(`src/core/${place}`));

/** Literals of makers that no person reads, or that stay in English. */
const notRead =
  /^The server lists more than$|^It wrote nothing$|^start failed$|^the first one$|^[{]? ?\w+: (?:https?:|NAME|'Bearer|my-client)|^(?:Implicit map keys|end with|Missing closing|be left out)$|may not [{]1}(?:[.] Allowed: [{]2}[.])?$|^@minds as |^gzip, br$|^url httpUrl |^by a caller$|^by the plan$|^login signin |^application[/]json, text|^could not be started, because$|^connect ECONNRESET$|^A message of more|^:\n/;

function textsIn(module: Module): SourceText[] {
  const { file, text } = module;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: SourceText[] = isMaker(module)
    ? untaggedTexts(module).filter(({ isWhole }) => isWhole)
    : [];
  const add = (node: ts.Node, text: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    // Cause and fix of an advice.
    for (const key of text.split(' → '))
      if (hasWords(key)) found.push({ key, at: `${file}:${line + 1}` });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && tags.test(node.tag.getText()))
      add(node, keyOf(node.template));
    if (ts.isCallExpression(node)) {
      const name = node.expression.getText();
      const [, , other] = node.arguments;
      if ((name === 'plural' || name === 'counted') && other && ts.isStringLiteral(other))
        add(other, other.text);
      if (messages.test(name))
        for (const one of node.arguments) if (ts.isStringLiteral(one)) add(one, one.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const ofProblems = Object.entries(catalogue).flatMap(([code, { message, fix }]) =>
  [message, fix].filter(hasWords).map((key) => ({ key, at: `problem ${code}` })),
);

/** Answers in variables. */
const ofAnswers = [
  ...['Approve All', 'Accept All', 'Write', 'Import', 'Remove'],
  ...['Give This One Its Own List', 'Change All', 'Change Both'],
];

/** Words of types, which views pass to `translated`. */
const ofTypes = [
  ...['error', 'warning', 'information', 'hint'],
  ...['nothing', 'none', 'another', 'tool', 'nodes', 'characters'],
  ...['an agent', 'this conversation', 'new'],
  ...['config file', 'transport', 'command', 'program', 'package', 'argument', 'directory'],
  ...['env file', 'environment', 'address', 'header', 'session id', 'sign-in'],
  ...['title', 'name', 'description', 'hints', 'arguments', 'text'],
  ...['ok', 'refused', 'cancelled', 'timed out', 'lost', 'not sent'],
  ...['tools', 'prompts', 'resources', 'whitelist', 'blacklist', 'original names'],
  ...['time', 'conversation', 'server', 'tool', 'prompt', 'resource', 'instructions'],
  ...Object.entries(stateViews).map(([kind, { word = kind }]) => word),
];

const allDeeds = serverDeeds(
  'approvable changed signInable startable restartable stoppable unused secret disabled enabled signOutable revocable'.split(
    ' ',
  ),
);
/** The panel of the status bar leaves out the word *Server*. */
const ofDeeds = allDeeds.flatMap(({ command, title }) =>
  panelCommands.has(command) ? [title, title.replace(/ (to )?Server/, '')] : [title],
);

const ofTables = [...ofTypes, ...ofAnswers, ...ofDeeds].map((key) => ({ key, at: 'a table' }));

/** Functions whose texts are for logs. */
const logs = /\.(?:write|debug|info|warn|error)$|^(?:assert|RegExp)/;

const twoWords = /[A-Za-z]{2,}[.,:;…]* (?:\{\d+\} )?[A-Za-z]{2,}|^[A-Z][a-z]+…$/;

/** With an article too, such as *a map*. */
const phrase = /[A-Za-z]+[.,:;…]* (?:\{\d+\} )?[A-Za-z]{2,}/;

interface UntaggedText extends SourceText {
  /** False for a template with values. */
  readonly isWhole: boolean;
}

/** Texts of two words or more outside the tags. */
export function untaggedTexts(module: Module): UntaggedText[] {
  const { file, text } = module;
  const ofMaker = isMaker(module);
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: UntaggedText[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeLiteralNode(node)) return;
    if (ts.isTypeAliasDeclaration(node) || ts.isLiteralTypeNode(node)) return;
    if (ts.isTaggedTemplateExpression(node)) {
      const { template } = node;
      if (ts.isTemplateExpression(template))
        template.templateSpans.forEach((one) => visit(one.expression));
      return;
    }
    if (ts.isCallExpression(node)) {
      const name = node.expression.getText();
      if (logs.test(name) || messages.test(name) || /^(?:plural|counted)$/.test(name)) return;
    }
    const isText = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node);
    const key = isText ? node.text : ts.isTemplateExpression(node) ? keyOf(node) : '';
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    for (const part of ofMaker ? key.split(' → ') : [key])
      if (ofMaker ? phrase.test(part) && !notRead.test(part) : twoWords.test(part))
        found.push({ key: part, at: `${file}:${line + 1}`, isWhole: isText });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

export const sourceTexts: readonly SourceText[] = [
  ...modules.filter(isTranslated).flatMap(textsIn),
  ...ofProblems,
  ...ofTables,
];
