/** Texts of `.minds/team.yaml` for tests, and their problems. */
import assert from 'node:assert/strict';
import type { Problem } from '../../../src/core/base/problem.js';
import { parseTeam, type ParsedTeam, type Team } from '../../../src/core/team/team.js';

export const file = '/w/.minds/team.yaml';
export const parse = (text: string | undefined): ParsedTeam =>
  parseTeam({ file, folder: '/w', text });

export function team(text: string): Team {
  const parsed = parse(text);
  assert.ok(parsed.team, JSON.stringify(parsed.problems));
  return parsed.team;
}

/** `code line:character text`, with the covered text. */
export function told(text: string, problems: readonly Problem[]): string[] {
  const lines = text.split('\n');
  return problems.map(({ code, place: { range } }) => {
    const { start, end } = range;
    const covered =
      start.line === end.line
        ? (lines[start.line] ?? '').slice(start.character, end.character)
        : '…';
    return `${code} ${start.line + 1}:${start.character + 1} ${covered}`;
  });
}
