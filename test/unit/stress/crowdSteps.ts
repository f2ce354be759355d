/** The steps of a host with little room, and the entries of its file. */
import type { Random } from './random.js';

export const steps = {
  edit: 10,
  startsSucceed: 22,
  startFails: 4,
  processesEnd: 14,
  call: 30,
  answer: 25,
  cancel: 3,
  die: 4,
  short: 8,
  halfMinute: 2,
  idle: 0.7,
  person: 5,
  agentRestart: 2,
  release: 4,
  clientLeaves: 2,
  approval: 2,
  reapply: 2,
};

export interface Entry {
  readonly id: string;
  readonly command: number;
  readonly stateless: boolean;
  readonly onCall: boolean;
  readonly enabled: boolean;
  readonly spare: boolean;
  readonly suffix: number;
}

/** The argument of a shared server. */
export const shared = '--shared';
export const ids = ['a', 'b', 'c'];

/** The allowed causes of a lost call, in the words for agents. Any other cause is a defect. */
export const lostBy = [
  'it was killed',
  'a person restarted it',
  'an agent restarted it',
  'a person stopped it',
  'a person ended it',
  'this conversation ended it',
  'its approval was revoked',
  'MCP Toolsets was shut down',
  'its definition was changed, and the drain limit has passed',
  'it was removed or disabled, and the drain limit has passed',
  'the session of its conversation has ended, and the drain limit has passed',
  // A client with more capabilities than the shared instance knows starts another one.
  'a client needed more capabilities, and the drain limit has passed',
  'was not called',
  'did not start',
];

/** An edit: servers come, go and change, and their tools get other names. */
export function randomEntries(entries: readonly Entry[], random: Random): readonly Entry[] {
  const before = new Map(entries.map((entry) => [entry.id, entry]));
  const fresh = (id: string): Entry => ({
    id,
    command: random.int(3),
    stateless: random.chance(0.4),
    onCall: random.chance(0.3),
    enabled: random.chance(0.9),
    spare: random.chance(0.8),
    suffix: 0,
  });
  return ids.flatMap((id) => {
    const entry = before.get(id);
    if (!entry) return random.chance(0.7) ? [fresh(id)] : [];
    if (random.chance(0.1)) return [];
    if (random.chance(0.12)) return [fresh(id)];
    return [random.chance(0.2) ? { ...entry, suffix: random.int(3) } : entry];
  });
}
