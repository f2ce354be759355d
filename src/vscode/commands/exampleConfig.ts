/** The text of the file that *Create Config File* writes. */
export const exampleConfig = `# MCP servers of this folder, and which of their tools agents see.
# Saving applies the change at once. Every key is described in the README of MCP Toolsets.
version: 1

servers:
  # The name of the server is the name of its toolset: letters, digits, - and _.
  files:
    transport: stdio
    command: npx
    args: ['-y', '@modelcontextprotocol/server-filesystem', '.']
    # true: one instance for all conversations. Without it each conversation has an instance of its own.
    truely-stateless: true
    tools:
      # Patterns for the server's own names; * stands for any text.
      whitelist: ['read_*', 'list_*', 'search_files']
    transform:
      - prefix: 'files_'

  # A server that is reached by HTTP, with a secret from the environment of the editor:
  # search:
  #   transport: streamable_http
  #   url: https://example.com/mcp
  #   headers:
  #     Authorization: { prefix: 'Bearer ', env: SEARCH_TOKEN }
`;
