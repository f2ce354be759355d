/** The text of the first part of a tool's result, or nothing. */
export function textOf(result: unknown): string {
  return (result as { content: { text: string }[] }).content[0]?.text ?? '';
}
