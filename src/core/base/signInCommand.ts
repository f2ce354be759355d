/** The command `login`, for texts about a sign-in (X7e). */
import { altered } from './language.js';
import { shellWord } from './paths.js';

/** As a part of a text that does not know the server. */
export const signInCommand = '`mcp-toolsets login NAME`';

/** Puts the server into such a text. */
export function withSignInCommand(text: string, server: string): string {
  const command = `\`mcp-toolsets login ${shellWord(server)}\``;
  return altered(text, (part) => part.replaceAll(signInCommand, command));
}
