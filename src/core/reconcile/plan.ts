/**
 * What an edit asks of one server, as data (spec R2, R3): from what the file says and what runs, the one step that
 * brings the second to the first. Pure; `ServerUnit` carries it out.
 */
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';

export interface Running {
  /** The definition whose tools are published. */
  readonly serving: Pick<ServerDefinition, 'launchHash' | 'viewHash'> | undefined;
  /** The definition that is being started. */
  readonly starting: Pick<ServerDefinition, 'launchHash'> | undefined;
  /** The definition that a person stopped. */
  readonly stopped: Pick<ServerDefinition, 'launchHash' | 'viewHash'> | undefined;
}

export type Step =
  | { readonly kind: 'none' }
  /** Withdraw the tools, end the instances when their calls have ended, end the start under way. */
  | { readonly kind: 'withdraw' }
  /** The entry is wrong: what serves goes on, what starts is ended. */
  | { readonly kind: 'keepPrevious' }
  /** Filter, transforms or limits changed: publish anew from what is listed, restart nothing. */
  | { readonly kind: 'recurate'; readonly definition: ServerDefinition }
  /** The start under way is for this launch: only what becomes of it changes. */
  | { readonly kind: 'redirect'; readonly definition: ServerDefinition }
  | { readonly kind: 'start'; readonly definition: ServerDefinition };

export function planStep(wanted: ConfiguredServer | undefined, running: Running): Step {
  if (wanted === undefined) return { kind: 'withdraw' };
  if (wanted.kind === 'invalid') return { kind: 'keepPrevious' };
  const { definition } = wanted;
  if (!definition.enabled) return { kind: 'withdraw' };
  const { serving, starting, stopped } = running;
  if (stopped && stopped.launchHash === definition.launchHash && stopped.viewHash === definition.viewHash) {
    return { kind: 'none' };
  }
  if (serving?.launchHash === definition.launchHash) return { kind: 'recurate', definition };
  if (starting?.launchHash === definition.launchHash) return { kind: 'redirect', definition };
  return { kind: 'start', definition };
}
