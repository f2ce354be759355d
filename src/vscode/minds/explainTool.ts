/** *Why Is a Tool Missing…*: where agents get a tool, and why not elsewhere. Loaded on demand. */
import { inert, type Inert } from '../../core/base/inert.js';
import { explain, type RoadAnswer } from '../../core/host/explain.js';
import { whyNothing } from '../../core/host/admin.js';
import { serves } from '../../core/reconcile/shortfall.js';
import type { StatusSnapshot } from '../../core/reconcile/status.js';
import type { Member } from '../../core/team/team.js';
import { window } from '../views/inertEditor.js';

const title = inert`Why Is a Tool Missing`;

interface Item {
  readonly label: Inert;
  readonly description: Inert;
  readonly name?: string;
  readonly server: string;
}

/** @param members of the team */
export async function explainTool(snapshot: StatusSnapshot, members: readonly Member[]): Promise<void> {
  const tools = snapshot.servers.flatMap(({ id, tools, excluded }): Item[] => [
    ...tools.map(({ published, original }) => ({
      label: inert`${published}`,
      description: inert`${id}${original === published ? '' : `, originally ${original}`}`,
      name: published,
      server: id,
    })),
    ...excluded.map(({ original }) => ({
      label: inert`${original}`,
      description: inert`${id}, left out`,
      name: original,
      server: id,
    })),
  ]);
  const silent = snapshot.servers
    .filter((server) => !serves(server))
    .map((server): Item => ({
      label: inert`${server.id}`,
      description: inert`${whyNothing(server)}`,
      server: server.id,
    }));
  const placeHolder = inert`Choose the tool. If it is not in the list, its server has not listed it`;
  const chosen = await window.showQuickPick([...tools, ...silent], { title, placeHolder });
  if (chosen?.name === undefined) return;
  const { name, server } = chosen;
  const found = explain(name, snapshot, members, () => undefined).tools.filter((tool) => tool.server === server);
  await window.showQuickPick(
    found.flatMap(({ roads }) => roads.map(itemOf)),
    { title, placeHolder: inert`${name} of ${server}` },
  );
}

function itemOf(answer: RoadAnswer) {
  const { road } = answer;
  if (!answer.offered) {
    return { label: inert`${road}: not offered`, description: inert`${answer.why}`, detail: inert`${answer.fix}` };
  }
  return { label: inert`${road}: offered`, description: inert`as ${answer.name}`, detail: inert`${answer.note ?? ''}` };
}
