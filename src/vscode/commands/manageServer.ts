/** *Manage Server…*: the servers, and what a person can do with each of them now. Loaded on demand. */
import { said, translated } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { inert } from '../../core/base/inert.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { choose, tell } from '../views/inertEditor.js';
import { whyNone } from '../views/phrases.js';
import { serverDeeds } from '../views/serverDeeds.js';
import { abilities, stateWord } from '../views/serverStates.js';

export async function manageServer(slot: EngineSlot, named: string | undefined): Promise<void> {
  const all = managed(slot);
  if (all.length === 0) return tell(inert`${whyNone(slot.state, '')}`);
  const pick = { title: inert`Manage Server`, placeHolder: inert`Choose an MCP server` };
  const server =
    all.find(({ id }) => id === named) ??
    (await choose(all, pick, ({ id, state, deeds }) => ({
      label: inert`${id}`,
      description: inert`${state}`,
      detail: inert`${deeds.map(({ title }) => translated(title)).join(' · ')}`,
    })));
  if (!server) return;
  const { id, state, deeds } = server;
  const options = { title: inert`${id}: ${state}`, placeHolder: inert`Choose what to do` };
  const deed = await choose(deeds, options, ({ title }) => ({
    label: inert`${translated(title)}`,
  }));
  // A text would be the name of a secret for one of the commands.
  const subject = { node: { server: id } };
  if (deed) await vscode.commands.executeCommand(`mcpToolsets.${deed.command}`, subject);
}

/** Returns the servers, and those that are gone from their files and still approved. */
function managed(slot: EngineSlot) {
  const { servers, problems } = slot.state.snapshot;
  const approved = slot.engine?.approvals.approvedIn(slot.sources.map(({ file }) => file)) ?? [];
  const gone = approved.filter(({ server }) => !slot.serverOf(server));
  return [
    ...servers.map((server) => ({
      id: server.id,
      state: stateWord(server.state),
      deeds: serverDeeds(abilities(server, problems)),
    })),
    ...gone.map(({ server }) => ({
      id: server,
      state: said`removed, and still approved`,
      deeds: serverDeeds(['revocable']).filter(({ command }) => command === 'revoke'),
    })),
  ];
}
