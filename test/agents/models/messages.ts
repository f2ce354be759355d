/** Anthropic Messages. */
import {
  behindLast,
  listOf,
  sendEvents,
  sendJson,
  type Fields,
  type ModelProtocol,
} from './protocol.js';

const usage = { input_tokens: 10, output_tokens: 5 };

export const messages: ModelProtocol = {
  speaksAt: (path) => /\/v1\/messages(?:\?|$)/.test(path),
  tools: ({ tools }) => listOf(tools).map(({ name }) => ({ name: String(name) })),
  news: (body) => behindLast(listOf(body['messages']), ({ role }) => role === 'assistant'),
  answer: (response, answer, { body }) => {
    const block: Fields =
      answer.kind === 'text'
        ? { type: 'text', text: answer.text }
        : { type: 'tool_use', id: answer.id, name: answer.tool.name, input: answer.args };
    const stopReason = answer.kind === 'text' ? 'end_turn' : 'tool_use';
    const head = {
      id: `msg_${Date.now()}`,
      type: 'message',
      role: 'assistant',
      model: body['model'],
      usage,
    };
    if (body['stream'] !== true) {
      sendJson(response, {
        ...head,
        content: [block],
        stop_reason: stopReason,
        stop_sequence: null,
      });
      return;
    }
    const [empty, delta] =
      answer.kind === 'text'
        ? [
            { ...block, text: '' },
            { type: 'text_delta', text: answer.text },
          ]
        : [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(answer.args) },
          ];
    const events = [
      {
        type: 'message_start',
        message: { ...head, content: [], stop_reason: null, stop_sequence: null },
      },
      { type: 'content_block_start', index: 0, content_block: empty },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
    sendEvents(
      response,
      events.map((data) => ({ name: data.type, data })),
    );
  },
};
