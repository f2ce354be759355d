/** OpenAI Responses. */
import {
  behindLast,
  listOf,
  sendEvents,
  sendJson,
  type Fields,
  type ModelProtocol,
  type OfferedTool,
} from './protocol.js';

export const responses: ModelProtocol = {
  speaksAt: (path) => /\/responses(?:\?|$)/.test(path),
  tools: ({ tools }) => listOf(tools).flatMap(offered),
  news: (body) =>
    behindLast(
      listOf(body['input']),
      ({ type, role }) => type === 'function_call' || (type === 'message' && role === 'assistant'),
    ),
  answer: (response, answer, { body }) => {
    const id = `resp_${Date.now()}`;
    const item: Fields =
      answer.kind === 'text'
        ? {
            type: 'message',
            id: `msg_${id}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: answer.text, annotations: [] }],
          }
        : {
            type: 'function_call',
            id: `fc_${answer.id}`,
            call_id: answer.id,
            name: answer.tool.name,
            arguments: JSON.stringify(answer.args),
            status: 'completed',
            ...(answer.tool.namespace !== undefined && { namespace: answer.tool.namespace }),
          };
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
    const whole = {
      id,
      object: 'response',
      model: body['model'],
      status: 'completed',
      output: [item],
      usage,
    };
    if (body['stream'] !== true) {
      sendJson(response, whole);
      return;
    }
    const events = [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ];
    sendEvents(
      response,
      events.map((data, sequence) => ({
        name: data.type,
        data: { ...data, sequence_number: sequence },
      })),
    );
  },
};

function offered(tool: Fields): OfferedTool[] {
  const name = String(tool['name']);
  if (tool['type'] !== 'namespace') return [{ name }];
  return listOf(tool['tools']).map((inner) => ({ name: String(inner['name']), namespace: name }));
}
