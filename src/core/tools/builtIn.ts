/** Published names that belong to the built-in toolset `mcp_admin` (spec L5, N5). */
export const builtInNames: ReadonlySet<string> = new Set(['mcp_release', 'mcp_status', 'mcp_restart', 'mcp_reload']);
