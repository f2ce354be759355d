/** The variable from which agents take the token that cannot run a command for it (G6). No server inherits it. */
export const tokenVariable = 'MCP_TOOLSETS_TOKEN';
