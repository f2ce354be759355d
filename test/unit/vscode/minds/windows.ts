/** A window and its servers for tests of @minds. */
import type { StatusSnapshot } from '../../../../src/core/reconcile/status.js';
import type { WindowState } from '../../../../src/vscode/engine/engineSlot.js';
import { servedTool, status } from '../views/statuses.js';

export const window = (of: StatusSnapshot): WindowState => ({ phase: 'serving', snapshot: of });
export const leasedBy = (conversation: string): Pick<ReturnType<typeof status>, 'instances'> => ({
  instances: [
    {
      id: 'i1',
      pid: 1,
      startedAt: 0,
      lastCallAt: undefined,
      callsInFlight: 0,
      use: { kind: 'leased', conversation, since: 0 },
    },
  ],
});
export const counter = status('counter', {
  tools: [servedTool('count')],
  offered: 2,
  ...leasedBy('mine'),
});
export const broken = status('broken', { state: { kind: 'invalid' } as never });
