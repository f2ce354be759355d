/** Gemini. */
import {
  behindLast,
  listOf,
  sendEvents,
  sendJson,
  type Fields,
  type ModelProtocol,
} from './protocol.js';

export const gemini: ModelProtocol = {
  speaksAt: (path) => /:(?:streamGenerateContent|generateContent)(?:\?|$)/.test(path),
  tools: ({ tools }) =>
    listOf(tools).flatMap((tool) =>
      listOf(tool['functionDeclarations']).map(({ name }) => ({ name: String(name) })),
    ),
  news: (body) => behindLast(listOf(body['contents']), ({ role }) => role === 'model'),
  answer: (response, answer, { path }) => {
    const part: Fields =
      answer.kind === 'text'
        ? { text: answer.text }
        : { functionCall: { id: answer.id, name: answer.tool.name, args: answer.args } };
    const whole = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    };
    if (path.includes(':streamGenerateContent')) sendEvents(response, [{ data: whole }]);
    else sendJson(response, whole);
  },
};
