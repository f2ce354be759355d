/** *Why Is a Tool Missing…*: where agents get a tool, and why not elsewhere. Loaded on demand. */
import * as vscode from 'vscode';
import { inert, type Inert } from '../../core/base/inert.js';
import type { Place } from '../../core/base/problem.js';
import { explain, type RoadAnswer } from '../../core/host/explain.js';
import { whyNothing } from '../../core/host/admin.js';
import { serves } from '../../core/reconcile/shortfall.js';
import type { StatusSnapshot } from '../../core/reconcile/status.js';
import type { Member } from '../../core/team/team.js';
import { window } from '../views/inertEditor.js';
import { openDocument } from '../views/review/documents.js';
import { fileLabel } from '../views/fileLabels.js';

const title = inert`Why Is a Tool Missing`;

interface Item {
  readonly label: Inert;
  readonly description: Inert;
  readonly name?: string;
  readonly server: string;
}

/** @param members of the team */
export async function explainTool(snapshot: StatusSnapshot, members: readonly Member[]): Promise<void> {
  const { servers, builtIn } = snapshot;
  const tools = [...servers, ...(builtIn ? [builtIn] : [])].flatMap(({ id, tools, excluded }): Item[] => [
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
  const silent = servers
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
  const found = explain(name, snapshot, members).tools.filter((tool) => tool.server === server);
  const answer = await window.showQuickPick(
    found.flatMap(({ roads }) => roads.map(itemOf)),
    { title, placeHolder: inert`${name} of ${server}` },
  );
  if (!answer?.place) return;
  const { file, range } = answer.place;
  const { start, end } = range;
  const selection = new vscode.Range(start.line, start.character, end.line, end.character);
  await vscode.window.showTextDocument(await openDocument(vscode.Uri.file(file)), { selection });
}

interface RoadItem {
  readonly label: Inert;
  readonly description: Inert;
  readonly detail: Inert;
  /** Opened if it is chosen. */
  readonly place?: Place;
}

function itemOf(answer: RoadAnswer): RoadItem {
  const { road } = answer;
  if (!answer.offered) {
    const { why, fix, place } = answer;
    const where = place ? inert` (${fileLabel(place.file)}:${place.range.start.line + 1})` : '';
    return {
      label: inert`${road}: not offered`,
      description: inert`${why}${where}`,
      detail: inert`${fix}`,
      ...(place && { place }),
    };
  }
  return { label: inert`${road}: offered`, description: inert`as ${answer.name}`, detail: inert`${answer.note ?? ''}` };
}
