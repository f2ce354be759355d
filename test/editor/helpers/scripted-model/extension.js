/**
 * A language model that follows the question. `CALL {"tool":"<name>","input":{…}}` makes it call this tool. Calls go
 * out in parallel, and the word `THEN` between them begins another round. After all rounds it answers with the
 * results, one line `RESULT <tool>: <text>` each. If the question ends with `SAY {"text":"…"}`, it answers with this
 * text in small pieces instead. `FILE` in the text becomes the last file named in a result. A tool missing from the
 * offered tools gives `NOT OFFERED <tool>`. Every other request (chat titles, questions without calls) gets `OK`.
 *
 * Commands: `scriptedModel.lastRequests` returns the requests so far, oldest first. `scriptedModel.forget` drops
 * them. `scriptedModel.failures(list)` makes the next requests with tools fail, one each: `{ message, code?, after?
 * }`. It sends the text `after` first. `scriptedModel.hold()` keeps the next request with tools open after a first
 * word until it is cancelled. `scriptedModel.be({ imageInput?, toolCalling?, maxInputTokens?, gemini? })` makes it
 * another kind of model. `gemini` also offers it under the vendor `scripted-gemini`.
 */
import * as vscode from 'vscode';

const model = {
  id: 'scripted-1',
  name: 'Scripted',
  family: 'scripted',
  version: '1',
  maxInputTokens: 200_000,
  maxOutputTokens: 32_000,
  capabilities: { toolCalling: true, imageInput: true },
};

const requests = [];
const changed = new vscode.EventEmitter();
let failures = [];
let holding = false;
let lastCall = 0;
let gemini = false;

export function activate(context) {
  const provider = {
    onDidChangeLanguageModelChatInformation: changed.event,
    provideLanguageModelChatInformation: () => [model],
    provideLanguageModelChatResponse: respond,
    provideTokenCount: (_model, text) => JSON.stringify(text).length / 4,
  };
  context.subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider('scripted', provider),
    vscode.lm.registerLanguageModelChatProvider('scripted-gemini', {
      ...provider,
      provideLanguageModelChatInformation: () =>
        gemini ? [{ ...model, id: 'scripted-gemini-1' }] : [],
    }),
    vscode.commands.registerCommand('scriptedModel.lastRequests', () => requests),
    vscode.commands.registerCommand('scriptedModel.forget', () => void requests.splice(0)),
    vscode.commands.registerCommand(
      'scriptedModel.failures',
      (list) => void (failures = [...list]),
    ),
    vscode.commands.registerCommand('scriptedModel.hold', () => void (holding = true)),
    vscode.commands.registerCommand(
      'scriptedModel.be',
      ({ maxInputTokens, gemini: too, ...capabilities }) => {
        gemini = too === true;
        model.maxInputTokens = maxInputTokens ?? 200_000;
        model.capabilities = { toolCalling: true, imageInput: true, ...capabilities };
        changed.fire();
      },
    ),
  );
}

async function respond(_model, messages, options, progress, token) {
  const tools = (options.tools ?? []).map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  requests.push({ messages: messages.map(readable), tools });
  if (tools.length > 0 && holding) {
    holding = false;
    progress.report(new vscode.LanguageModelTextPart('Hold on. '));
    return new Promise((resolve) => token.onCancellationRequested(resolve));
  }
  if (tools.length > 0 && failures.length > 0) fail(failures.shift(), progress);
  const question = messages.findLastIndex(
    (message) => isUser(message) && textOf(message.content).includes('CALL '),
  );
  if (question < 0 || tools.length === 0)
    return progress.report(new vscode.LanguageModelTextPart('OK'));

  const after = messages.slice(question + 1);
  const calls = after.flatMap((message) => partsOf(message, vscode.LanguageModelToolCallPart));
  const results = after.flatMap((message) => partsOf(message, vscode.LanguageModelToolResultPart));
  const rounds = roundsIn(textOf(messages[question].content));
  const done = new Set(calls.map(({ callId }) => Number(callId.split('-')[1]))).size;
  const next = rounds[done] ?? [];
  const missing = next.filter(({ tool }) => !tools.some(({ name }) => name === tool));
  if (missing.length > 0) {
    return progress.report(
      new vscode.LanguageModelTextPart(missing.map(({ tool }) => `NOT OFFERED ${tool}`).join('\n')),
    );
  }
  if (next.length > 0) {
    for (const { tool, input } of next) {
      // The id contains the round, so that the next request shows the finished rounds.
      const id = `call-${done}-${++lastCall}`;
      progress.report(new vscode.LanguageModelToolCallPart(id, tool, input ?? {}));
    }
    return;
  }
  const lines = results.map(({ callId, content }) => {
    const name = calls.find((call) => call.callId === callId)?.name ?? callId;
    return `RESULT ${name}: ${textOf(content)}`;
  });
  const words = wordsIn(textOf(messages[question].content), lines.join('\n'));
  if (words === undefined)
    return progress.report(new vscode.LanguageModelTextPart(lines.join('\n') || 'OK'));
  for (const piece of words.match(/[^]{1,7}/g) ?? [])
    progress.report(new vscode.LanguageModelTextPart(piece));
}

function wordsIn(question, results) {
  const at = question.indexOf('SAY {');
  if (at < 0) return undefined;
  const file =
    [...results.matchAll(/(?:Saved as|All of it is in) ([^\]\n]+)\]/g)].at(-1)?.[1] ?? 'no file';
  return jsonAt(question, at + 'SAY '.length).text.replaceAll('FILE', file);
}

function fail({ message, code, after }, progress) {
  if (after) progress.report(new vscode.LanguageModelTextPart(after));
  const known = code && vscode.LanguageModelError[code];
  throw known ? known(message) : new Error(message);
}

/** The calls in a question, by rounds. Each is JSON and ends with its balancing brace. */
function roundsIn(text) {
  const rounds = [[]];
  for (const { 0: word, index } of text.matchAll(/CALL (?=\{)|\bTHEN\b/g)) {
    if (word === 'THEN') rounds.push([]);
    else rounds.at(-1).push(jsonAt(text, index + word.length));
  }
  return rounds.filter((round) => round.length > 0);
}

function jsonAt(text, start) {
  for (let end = text.indexOf('}', start); end >= 0; end = text.indexOf('}', end + 1)) {
    try {
      return JSON.parse(text.slice(start, end + 1));
    } catch {
      // Not the closing brace yet.
    }
  }
  throw new Error(`No JSON after CALL: ${text.slice(start, start + 200)}`);
}

function isUser({ role }) {
  return role === vscode.LanguageModelChatMessageRole.User;
}

function partsOf(message, kind) {
  return message.content.filter((part) => part instanceof kind);
}

function textOf(content) {
  return content.map(partText).join('');
}

function partText(part) {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  if (part instanceof vscode.LanguageModelDataPart)
    return `[${part.mimeType}, ${part.data.length} bytes]`;
  if (part instanceof vscode.LanguageModelPromptTsxPart) return JSON.stringify(part.value);
  return '';
}

/** A message as JSON for searches by a test. */
function readable({ role, content }) {
  return {
    role: isUser({ role }) ? 'user' : 'assistant',
    text: textOf(content),
    calls: partsOf({ content }, vscode.LanguageModelToolCallPart).map(
      ({ callId, name, input }) => ({
        callId,
        name,
        input,
      }),
    ),
    results: partsOf({ content }, vscode.LanguageModelToolResultPart).map((result) => ({
      callId: result.callId,
      text: textOf(result.content),
    })),
  };
}
