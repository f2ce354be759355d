/** The text of the file that *Create Config File* writes. */
export const exampleConfig = `# MCP servers of this folder, and which of their tools agents see. A change applies when you save.
# All keys: run "MCP Toolsets: Open Documentation…" in the Command Palette and choose "The config file".
version: 1

servers:
  # The name of the server is the name of its toolset: letters, digits, - and _.
  files:
    transport: stdio
    command: npx
    args: ['-y', '@modelcontextprotocol/server-filesystem', '.']
    # true: all conversations share one instance. Otherwise each conversation has its own instance.
    truely-stateless: true
    tools:
      # Patterns for the server's own tool names; * matches any text.
      whitelist: ['read_*', 'list_*', 'search_files']
    transform:
      - prefix: 'files_'

  # A server at an HTTP address, with a secret from the environment of the editor:
  # search:
  #   transport: streamable_http
  #   url: https://example.com/mcp
  #   headers:
  #     Authorization: { prefix: 'Bearer ', env: SEARCH_TOKEN }
`;
