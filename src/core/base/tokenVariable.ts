/** The variable with the token for agents without a token command (G6). No server inherits it. */
export const tokenVariable = 'MCP_TOOLSETS_TOKEN';
