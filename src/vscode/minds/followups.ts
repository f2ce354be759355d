/** Offers what a person may want to say next: continue where it stopped, release what the chat holds, or see what is wrong. */
import type * as vscode from 'vscode';
import { readRecord } from '../../core/minds/history.js';
import { heldBy } from '../../core/host/conversationTools.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { TeamView } from './teamFiles.js';
import { recordIn } from './turnRecord.js';

const most = 3;

export function followupsOf(result: vscode.ChatResult, slot: EngineSlot, team: TeamView): vscode.ChatFollowup[] {
  const record = readRecord(recordIn(result));
  if (!record) return [];
  const { snapshot } = slot.state;
  const found: vscode.ChatFollowup[] = [];
  if (record.end === 'stopped' || record.end === 'stepLimit') {
    found.push({ prompt: '', command: 'continue', label: 'Continue where it stopped' });
  }
  for (const id of heldBy(record.conversation, snapshot)) {
    found.push({ prompt: id, command: 'release', label: `Release ${id}` });
  }
  if (snapshot.servers.some(({ state }) => state.kind === 'failed' || state.kind === 'invalid')) {
    found.push({ prompt: '', command: 'mcp', label: 'What is wrong with the MCP servers?' });
  }
  if (record.member === undefined && team.members.length > 0) {
    found.push({ prompt: '', command: 'as', label: 'Who is in the team?' });
  }
  return found.slice(0, most);
}
