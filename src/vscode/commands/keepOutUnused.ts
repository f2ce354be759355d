/** *Keep Out Unused Tools…*: the tools that nobody calls (H1d), ticked. Loaded on demand. */
import { inert } from '../../core/base/inert.js';
import { plural, said } from '../../core/base/language.js';
import { estimatedTokens, estimatedTokensOf } from '../../core/tools/tokens.js';
import { writeTicks } from '../authoring/fileEdits.js';
import type { Shell } from '../engine/shell.js';
import { tell, window } from '../views/inertEditor.js';
import { tokenPhrase } from '../views/phrases.js';
import { areChangesForMe } from '../views/trees.js';

/** @param named a server; by default all */
export async function keepOutUnused(shell: Shell, named: string | undefined): Promise<void> {
  const { slot } = shell;
  const servers = slot.state.snapshot.servers.filter(
    ({ id, origin }) => id === (named ?? id) && (origin !== 'mcprc' || areChangesForMe()),
  );
  const unused = servers.flatMap((server) =>
    (slot.engine?.use.unusedOf(server) ?? []).map((tool) => ({ server: server.id, tool })),
  );
  if (unused.length === 0)
    return tell(
      inert`No tool counts as unused. That takes seven days of recorded calls, and 20 calls of the toolset in the last 30 days.`,
    );
  const items = unused
    .map(({ server, tool }) => ({
      tokens: estimatedTokens(tool),
      label: inert`${tool.published}`,
      description: inert`${tokenPhrase(estimatedTokens(tool))} · ${server}`,
      picked: true,
      row: { server, original: tool.original, ticked: false },
    }))
    .sort((one, other) => other.tokens - one.tokens);
  const sum = tokenPhrase(estimatedTokensOf(unused.map(({ tool }) => tool)));
  const who = areChangesForMe() ? said`only for you` : said`for everyone`;
  const chosen = await window.showQuickPick(items, {
    title: inert`Keep Out Unused Tools: ${plural(unused.length, '1 tool', '{0} tools')}, ${sum} in each request`,
    placeHolder: inert`The ticked tools are kept out, ${who}`,
    canPickMany: true,
  });
  if (chosen && chosen.length > 0)
    await writeTicks(
      shell,
      chosen.map(({ row }) => row),
    );
}
