/** Shows a person everything that a call is given before they allow it, and nothing of it is invisible. Pure. */
import type { CallQuestion } from '../../core/host/permission.js';

const longest = 1500;

export function argumentsText({ title, arguments: input }: Pick<CallQuestion, 'title' | 'arguments'>): string {
  const json = JSON.stringify(input ?? {}, undefined, 2);
  const given = json === '{}' ? 'It is given nothing.' : `It is given\n${visible(json)}`;
  return title === undefined ? given : `${visible(title)}\n\n${given}`;
}

/** Leaves out the middle of a text that is too long for a dialog, because both ends matter to the person who decides. */
function visible(text: string): string {
  const shown = text.replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
  if (shown.length <= longest) return shown;
  const half = longest / 2;
  const left = shown.length - longest;
  return `${shown.slice(0, half)}\n… ${left} characters are not shown …\n${shown.slice(-half)}`;
}
