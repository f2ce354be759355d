/** The snapshot as JSON, between two processes of one version of this product. */
import { isObject } from '../base/isObject.js';
import { unlessThrown } from '../base/unlessThrown.js';
import type { StatusSnapshot } from './status.js';

export function sentSnapshot({ servers, ...rest }: StatusSnapshot) {
  const sent = servers.map(({ placeOf, siftedForMe, toLock: _, ...server }) => ({
    ...server,
    places: server.excluded.map((tool) => placeOf(tool) ?? null),
    sifted: [...siftedForMe()],
  }));
  return { ...rest, servers: sent };
}

export function receivedSnapshot(text: string): StatusSnapshot | undefined {
  const read: unknown = unlessThrown(() => JSON.parse(text));
  if (!isObject(read) || !Array.isArray(read['servers'])) return undefined;
  const { servers, ...rest } = read as unknown as ReturnType<typeof sentSnapshot>;
  return {
    ...rest,
    servers: servers.map(({ places, sifted, ...server }) => ({
      ...server,
      siftedForMe: () => new Set(sifted),
      placeOf: (tool) => places[server.excluded.indexOf(tool)] ?? undefined,
      toLock: () => undefined,
    })),
  };
}
