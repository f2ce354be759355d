/** `mcp-toolsets serve` (G6, H1). It follows the config files until it ends. */
import { assertNever } from '../core/base/assertNever.js';
import { systemClock } from '../core/base/clock.js';
import { nextEvent, untilAborted } from '../core/base/events.js';
import { needsAttention } from '../core/base/problem.js';
import { asText } from '../core/base/text.js';
import type { Program } from '../core/files/addressFile.js';
import { secretInFile, StableEndpoint, type EndpointState } from '../core/gateway/http/stableEndpoint.js';
import { createGateway, type GatewayDeps } from '../core/gateway/http/gateway.js';
import { configFileOf } from '../core/files/configFile.js';
import { createRestBackend } from '../core/host/restBackend.js';
import { version } from '../../package.json';
import { tokenFileFor } from './gateways.js';
import { servingGuards } from './keptOffers.js';
import type { Options, Words } from './options.js';
import { complain, misuse, NewLines, print } from './output.js';
import { inOrder, problemLine, subjectOfProblem } from './render.js';
import { withHost, type Run, type RunningHost } from './withHost.js';

const usualPort = '7427';

export async function serveFolder(run: Run, _: Words, options: Options): Promise<number> {
  const { port: given = usualPort, 'approve-edits': approvesEdits, 'hold-changed': holdChanged } = options;
  const port = /^\d{1,5}$/.test(given) ? Number(given) : NaN;
  if (!(port < 65_536)) return misuse(`"${given}" is not a port. Use a number from 0 to 65535.`);
  const tokenFile = tokenFileFor(run, options);
  const { guards, onClient } = await servingGuards(run.folder, holdChanged);
  const served: Served = { port, tokenFile, program: { kind: 'serve', version }, onClient };
  return withHost(run, (running) => serve(run, running, served), { ...guards, approvesEdits, goesOn: true });
}

interface Served extends Pick<GatewayDeps, 'onConnections'> {
  readonly onClient: NonNullable<GatewayDeps['onClient']>;
  /** If it is 0, the system chooses a port. */
  readonly port: number;
  readonly tokenFile: string;
  readonly program: Program;
}

/** Resolves when the folder is served, or to the exit code after a complaint. The endpoint ends before the host. */
export async function openEndpoint(run: Run, running: RunningHost, served: Served): Promise<StableEndpoint | number> {
  const { port, tokenFile, program, onClient, onConnections } = served;
  const { core, host, started, signal, closeFirst } = running;
  const { backend, log, redactor } = core;
  const rest = createRestBackend(host, systemClock, () => configFileOf(run.folder));
  const endpoint = new StableEndpoint({
    port,
    secret: secretInFile(tokenFile, program, systemClock),
    clock: systemClock,
    log,
    keepSecret: (values) => redactor.register(values),
    createGateway: (stable) =>
      createGateway({
        backend,
        log,
        clock: systemClock,
        version,
        stable,
        rest,
        onClient,
        ...(onConnections && { onConnections }),
      }),
  });
  closeFirst(() => endpoint.dispose());
  started.catch((error: unknown) => complain(`The config files were not applied: ${asText(error)}`));
  if (endpoint.state.kind === 'starting') await nextEvent(endpoint.onDidChange, () => true, signal);
  switch (endpoint.state.kind) {
    case 'listening':
      return endpoint;
    case 'portTaken':
      return complain(
        `Port ${port} is taken, perhaps by an editor or another \`serve\` of this folder. Stop it, or choose another port with --port.`,
      );
    case 'starting':
    case 'failed':
      return complain(`Cannot listen: ${endpoint.state.kind === 'failed' ? endpoint.state.reason : 'it ended'}.`);
  }
}

async function serve(run: Run, running: RunningHost, served: Served): Promise<number> {
  const endpoint = await openEndpoint(run, running, served);
  if (typeof endpoint === 'number') return endpoint;
  running.follow();
  tell(run, running, endpoint, served.tokenFile);
  await untilAborted(running.signal);
  return 0;
}

function tell(run: Run, { host, store }: RunningHost, endpoint: StableEndpoint, tokenFile: string): void {
  const said = new NewLines(print);
  const complained = new NewLines(complain, subjectOfProblem);
  const look = (): void => {
    const { state } = endpoint;
    const toolsets = host.catalogue.toolsets.flatMap(({ id, tools }) => {
      const url = endpoint.urlOf(id);
      return url === undefined ? [] : [{ id, url, tools: tools.length }];
    });
    if (run.json) said.say([JSON.stringify({ state: state.kind, tokenFile, toolsets })]);
    else {
      said.say([
        whereabouts(state, tokenFile),
        ...toolsets.map(({ id, url, tools }) => `${id}  ${url}  ${tools} ${tools === 1 ? 'tool' : 'tools'}`),
      ]);
    }
    complained.say(inOrder(host.snapshot.problems.filter(needsAttention)).map(problemLine));
  };
  store.add(endpoint.onDidChange(look));
  store.add(host.onDidChange(look));
  look();
}

function whereabouts(state: EndpointState, tokenFile: string): string {
  switch (state.kind) {
    case 'listening':
      return `Listening on http://127.0.0.1:${state.port}, the token is in ${tokenFile}`;
    case 'starting':
      return 'The token was renewed, and clients that used the old one are disconnected.';
    case 'portTaken':
      return `Not listening: port ${state.port} was taken by another program.`;
    case 'failed':
      return `Not listening: ${state.reason}.`;
    default:
      return assertNever(state);
  }
}
