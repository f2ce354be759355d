/** Requests of VS Code's agent host to a model through its bridge to models of extensions. */
import { behindLast, listOf, sendJson, type ModelProtocol } from './protocol.js';

export const agentHost: ModelProtocol = {
  speaksAt: (path) => path === '/agent-host',
  tools: ({ tools }) => listOf(tools).map(({ name }) => ({ name: String(name) })),
  news: (body) =>
    behindLast(
      listOf(body['input']),
      ({ type, role }) => type === 'function_call' || (type === 'message' && role === 'assistant'),
    ),
  answer: (response, answer) => {
    const item =
      answer.kind === 'text'
        ? { type: 'message', role: 'assistant', content: [{ type: 'text', text: answer.text }] }
        : {
            type: 'function_call',
            callId: answer.id,
            name: answer.tool.name,
            argumentsJson: JSON.stringify(answer.args),
          };
    sendJson(response, { output: [item] });
  },
};
