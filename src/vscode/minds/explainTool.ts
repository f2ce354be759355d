/** *Why Is a Tool Missing…*: where agents get a tool, and why not elsewhere. Loaded on demand. */
import { inert } from '../../core/base/inert.js';
import { explain, type RoadAnswer } from '../../core/catalogue/explain.js';
import { whyNothing } from '../../core/catalogue/admin.js';
import { serves } from '../../core/reconcile/shortfall.js';
import type { StatusSnapshot } from '../../core/reconcile/status.js';
import type { Member } from '../../core/team/team.js';
import { choose, type InertItem } from '../views/inertEditor.js';
import { showPlace } from '../views/review/documents.js';
import { fileLabel } from '../views/places.js';

const title = inert`Why Is a Tool Missing`;

interface Subject {
  readonly server: string;
  /** The name of the tool; undefined for a server without tools. */
  readonly name?: string;
  readonly about: string;
}

export async function explainTool(
  snapshot: StatusSnapshot,
  members: readonly Member[],
): Promise<void> {
  const { servers, builtIn } = snapshot;
  const tools = [...servers, ...(builtIn ? [builtIn] : [])].flatMap(
    ({ id: server, tools, excluded }): Subject[] => [
      ...tools.map(({ published: name, original }) => {
        const origin = original === name ? '' : `, originally ${original}`;
        return {
          server,
          name,
          about: `${server}${origin}`,
        };
      }),
      ...excluded.map(({ original: name }) => ({
        server,
        name,
        about: `${server}, left out`,
      })),
    ],
  );
  const silent = servers.flatMap((server) =>
    serves(server) ? [] : { server: server.id, about: whyNothing(server) },
  );
  const placeHolder = inert`Choose the tool. If it is not in the list, its server has not listed it`;
  const chosen = await choose<Subject>(
    [...tools, ...silent],
    { title, placeHolder },
    ({ server, name, about }) => ({
      label: inert`${name ?? server}`,
      description: inert`${about}`,
    }),
  );
  if (chosen?.name === undefined) return;
  const { name, server } = chosen;
  const found = explain(name, snapshot, members).tools.filter((tool) => tool.server === server);
  const roads = found.flatMap((tool) => tool.roads);
  const road = await choose(roads, { title, placeHolder: inert`${name} of ${server}` }, itemOf);
  if (road && !road.offered && road.place) await showPlace(road.place);
}

function itemOf(answer: RoadAnswer): InertItem {
  const { road } = answer;
  if (answer.offered) {
    const { name, note = '' } = answer;
    return {
      label: inert`${road}: offered`,
      description: inert`as ${name}`,
      detail: inert`${note}`,
    };
  }
  const { why, fix, place } = answer;
  const where = place ? inert` (${fileLabel(place.file)}:${place.range.start.line + 1})` : '';
  return {
    label: inert`${road}: not offered`,
    description: inert`${why}${where}`,
    detail: inert`${fix}`,
  };
}
