/** @param platform as of Node; on Windows the command is for PowerShell */
export function callCommand(tool: string, given: object, platform: string): string {
  const json = JSON.stringify(given);
  const words = ['mcp-toolsets', 'call', tool, ...(json === '{}' ? [] : [json])];
  return words.map((word) => (/^[\w./-]+$/.test(word) ? word : quoted(word, platform))).join(' ');
}

function quoted(word: string, platform: string): string {
  // PowerShell removes double quotes within an argument of a program, unless they are escaped.
  if (platform === 'win32') return `'${word.replaceAll("'", "''").replaceAll('"', '\\"')}'`;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
