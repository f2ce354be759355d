/** OpenAI Chat Completions. */
import {
  behindLast,
  listOf,
  sendEvents,
  sendJson,
  type Fields,
  type ModelProtocol,
} from './protocol.js';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export const chat: ModelProtocol = {
  speaksAt: (path) => /\/chat\/completions(?:\?|$)/.test(path),
  tools: ({ tools }) =>
    listOf(tools).map((tool) => ({ name: String((tool['function'] as Fields)['name']) })),
  news: (body) => behindLast(listOf(body['messages']), ({ role }) => role === 'assistant'),
  answer: (response, answer, { body }) => {
    const call = answer.kind === 'call' && {
      id: answer.id,
      type: 'function',
      function: { name: answer.tool.name, arguments: JSON.stringify(answer.args) },
    };
    const reason = call ? 'tool_calls' : 'stop';
    const content = answer.kind === 'text' ? answer.text : null;
    const head = {
      id: `chatcmpl_${Date.now()}`,
      created: Math.floor(Date.now() / 1000),
      model: body['model'],
    };
    if (body['stream'] !== true) {
      const message = { role: 'assistant', content, ...(call && { tool_calls: [call] }) };
      const choices = [{ index: 0, message, finish_reason: reason }];
      sendJson(response, { ...head, object: 'chat.completion', choices, usage });
      return;
    }
    const chunk = (delta: Fields, finish: string | null, more: Fields = {}): { data: unknown } => ({
      data: {
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: finish }],
        ...more,
      },
    });
    const delta = call ? { tool_calls: [{ index: 0, ...call }] } : { content };
    sendEvents(response, [
      chunk({ role: 'assistant', ...delta }, null),
      chunk({}, reason, { usage }),
      { data: '[DONE]' },
    ]);
  },
};
