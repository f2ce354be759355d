/** What a person can do with a server, in the order of a list. Pure; without `vscode`. */
import type { CommandName } from '../../../build/commands.js';

interface Deed {
  readonly command: CommandName;
  readonly title: string;
  /** The ability that it needs. Without one, it is always possible. */
  readonly needs?: string;
  readonly unless?: string;
}

const deeds: readonly Deed[] = [
  {
    command: 'approve',
    title: 'Approve Server…',
    needs: 'approvable',
  },
  {
    command: 'acceptTools',
    title: 'Accept Changed Tools…',
    needs: 'changed',
  },
  {
    command: 'signIn',
    title: 'Sign In to Server…',
    needs: 'signInable',
  },
  {
    command: 'start',
    title: 'Start Server',
    needs: 'startable',
  },
  {
    command: 'restart',
    title: 'Restart Server',
    needs: 'restartable',
  },
  {
    command: 'stop',
    title: 'Stop Server',
    needs: 'stoppable',
  },
  {
    command: 'keepOutUnused',
    title: 'Keep Out Unused Tools…',
    needs: 'unused',
  },
  {
    command: 'showServerLog',
    title: 'Show Server Log',
  },
  {
    command: 'goToDefinition',
    title: 'Go to Server Definition',
  },
  {
    command: 'setSecret',
    title: 'Set Secret…',
    needs: 'secret',
  },
  {
    command: 'enableForMe',
    title: 'Enable for Me',
    needs: 'disabled',
  },
  {
    command: 'disableForMe',
    title: 'Disable for Me',
    needs: 'enabled',
  },
  {
    command: 'enable',
    title: 'Enable for Everyone',
    needs: 'disabled',
    unless: 'mine',
  },
  {
    command: 'disable',
    title: 'Disable for Everyone',
    needs: 'enabled',
    unless: 'mine',
  },
  {
    command: 'signOut',
    title: 'Sign Out of Server',
    needs: 'signOutable',
  },
  {
    command: 'revoke',
    title: 'Revoke Server Approval',
    needs: 'revocable',
  },
];

/** @param able the words of `abilities` */
export function serverDeeds(able: readonly string[]): readonly Deed[] {
  return deeds.filter(
    ({ needs, unless = '' }) =>
      (needs === undefined || able.includes(needs)) && !able.includes(unless),
  );
}
