/** *Why Is a Tool Missing?*: where agents get a tool, and why not elsewhere. Loaded on demand. */
import { said, translated } from '../../core/base/language.js';
import { commaList } from '../../core/base/text.js';
import * as vscode from 'vscode';
import { groupedBy } from '../../core/base/groupedBy.js';
import { inert } from '../../core/base/inert.js';
import { explain, type RoadAnswer } from '../../core/catalogue/explain.js';
import { whyNothing } from '../../core/catalogue/admin.js';
import { serves } from '../../core/reconcile/shortfall.js';
import type { StatusSnapshot } from '../../core/reconcile/status.js';
import type { Member } from '../../core/team/team.js';
import { exclusionWord, hasTick } from '../../core/tools/exclusion.js';
import { choose, window } from '../views/inertEditor.js';
import { showPlace } from '../views/review/documents.js';
import { fileLabel } from '../views/places.js';

const title = inert`Why Is a Tool Missing?`;

interface AskedTool {
  readonly server: string;
  /** Undefined for a server without tools. */
  readonly original?: string | undefined;
}

/** @param row the tool of a row in the sidebar. Without it, the person chooses one */
export async function explainTool(
  snapshot: StatusSnapshot,
  members: readonly Member[],
  row?: AskedTool,
): Promise<void> {
  const { server, original } = row ?? (await chooseTool(snapshot)) ?? {};
  if (server === undefined) return;
  if (original === undefined) {
    await vscode.commands.executeCommand('mcpToolsets.manageServer', server);
    return;
  }
  const found = explain(original, snapshot, members).tools.find(
    (tool) => tool.server === server && tool.original === original,
  );
  if (!found) return;
  const toPublish = snapshot.servers.some(
    ({ id, excluded }) =>
      id === server && excluded.some((tool) => tool.original === original && hasTick(tool)),
  );
  const node = {
    server,
    original,
    ticked: false,
  };
  const publishing = {
    label: inert`Publish It`,
    description: inert`changes the lists in the config file`,
    run: () => vscode.commands.executeCommand('mcpToolsets.publishTool', { node }),
  };
  const groups = groupedBy(found.roads, ({ road: _, ...answer }) => JSON.stringify(answer));
  const rows = [...(toPublish ? [publishing] : []), ...[...groups.values()].map(rowOf)];
  const placeHolder = inert`${original} of ${server}`;
  await (await window.showQuickPick(rows, { title, placeHolder }))?.run();
}

/** Missing tools come first. */
async function chooseTool({
  servers,
  builtIn,
  problems,
}: StatusSnapshot): Promise<AskedTool | undefined> {
  const toolsets = [...servers, ...(builtIn ? [builtIn] : [])];
  const missing = toolsets.flatMap(({ id: server, excluded }) =>
    excluded.map(({ original, reason }) => ({
      server,
      original,
      name: original,
      about: `${server}, ${translated(exclusionWord(reason))}`,
    })),
  );
  const silent = servers.flatMap((server) =>
    serves(server)
      ? []
      : {
          server: server.id,
          name: server.id,
          about: translated(whyNothing(server, problems)),
        },
  );
  const published = toolsets.flatMap(({ id: server, tools }) =>
    tools.map(({ published: name, original }) => ({
      server,
      original,
      name,
      about: original === name ? server : said`${server}, originally ${original}`,
    })),
  );
  const placeHolder = inert`Choose the tool. If it is not in the list, its server has not listed it`;
  return choose(
    [...missing, ...silent, ...published],
    { title, placeHolder },
    ({ name, about }) => ({ label: inert`${name}`, description: inert`${about}` }),
  );
}

/** @param same answers that differ in their roads only */
function rowOf(same: readonly [RoadAnswer, ...RoadAnswer[]]) {
  const [answer] = same;
  const roads = inert`${commaList(
    same.map(({ road }) => translated(road)),
    said,
  )}`;
  if (answer.offered) {
    return {
      label: inert`${roads}: published`,
      description: inert`as ${answer.name}`,
      detail: inert`${translated(answer.note ?? '')}`,
      run: () => undefined,
    };
  }
  const { why, fix, place } = answer;
  const where = place ? inert` (${fileLabel(place.file)}:${place.range.start.line + 1})` : '';
  return {
    label: inert`${roads}: not published`,
    description: inert`${translated(why)}${where}`,
    detail: inert`${translated(fix)}`,
    run: () => place && showPlace(place),
  };
}
