/** The tools of our toolsets in `vscode.lm.tools`, and their table for a terminal. */
import type * as vscode from 'vscode';
import type { ExtensionHost } from '../editor/extensionHost.ts';

export interface ReportedTool {
  toolset: string;
  tool: string;
  /** The id in the editor: `mcp_<toolset>_<tool>`. */
  name: string;
  inputSchema: { required?: string[]; properties?: Record<string, { type?: string }> };
}

/**
 * Settles with the tools once they differ from `known`, the JSON of an earlier answer. Settles at
 * once if `known` is empty.
 */
export async function nextTools(host: ExtensionHost, known: string): Promise<ReportedTool[]> {
  return host.evaluate(async ({ lm }: typeof vscode, before: string) => {
    for (;;) {
      const tools: ReportedTool[] = [];
      for (const { name, inputSchema, ...rest } of lm.tools) {
        // `<toolset>/<tool>`. The object has it, but the API's types do not. A spread copies only
        // own properties.
        const reference = (rest as { fullReferenceName?: string }).fullReferenceName ?? '';
        const [toolset = '', tool = ''] = reference.includes('/')
          ? reference.split('/')
          : name.split('_').slice(1);
        if (name.startsWith('mcp_'))
          tools.push({ toolset, tool, name, inputSchema: inputSchema ?? {} });
      }
      if (JSON.stringify(tools) !== before) return tools;
      await new Promise((done) => setTimeout(done, 200));
    }
  }, known);
}

/** @param expected toolsets that should be there. The table names those without tools. */
export function table(tools: readonly ReportedTool[], expected: readonly string[]): string {
  const rows = tools.map(({ toolset, tool, name }) => [toolset, tool, name] as const);
  for (const toolset of expected) {
    if (!rows.some(([of]) => of === toolset.toLowerCase())) rows.push([toolset, '—', 'no tools']);
  }
  const order = (toolset: string): number =>
    expected.findIndex((name) => name.toLowerCase() === toolset.toLowerCase());
  rows.sort(([a], [b]) => order(a) - order(b));
  const lines = [['Toolset', 'Tool', 'Name in vscode.lm.tools'] as const, ...rows];
  const width = (column: 0 | 1): number =>
    Math.max(...lines.map((line) => line[column].length)) + 2;
  const [first, second] = [width(0), width(1)];
  return lines
    .map(([toolset, tool, name], index) => {
      const repeated = index > 1 && lines[index - 1]?.[0] === toolset;
      return `  ${(repeated ? '' : toolset).padEnd(first)}${tool.padEnd(second)}${name}`.trimEnd();
    })
    .join('\n');
}
