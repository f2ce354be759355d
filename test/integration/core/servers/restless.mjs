/**
 * Trait: its tools change during a list. Each of the first `--times` lists lacks one tool.
 * `list_changed` announces this tool right before the list's answer: tool_1, then tool_2, and so
 * on.
 *
 *   node restless.mjs [--times N]      default 10
 */
import { notify, serveRaw } from '../../../fixtures/servers/shared/rawStdio.mjs';
import { listTools, readOptions } from '../../../fixtures/servers/shared/tools.mjs';

const times = Number(readOptions({ times: { type: 'string' } }).times ?? 10);
const names = ['first'];
serveRaw({
  serverInfo: { name: 'restless', version: '1.0.0' },
  list: () => {
    const tools = listTools(names);
    if (names.length <= times) {
      names.push(`tool_${names.length}`);
      notify('notifications/tools/list_changed');
    }
    return { tools };
  },
  call: (params) => ({ content: [{ type: 'text', text: params.name }] }),
});
