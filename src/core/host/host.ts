/**
 * The façade of the core: the catalogue, the calls and the servers as one object. Invariant: the
 * catalogue is replaced in one step and is always the publication of all registrations in file
 * order.
 */
import { ToolsetCalls } from '../calling/calls.js';
import type { Host } from '../calling/hostContract.js';
import { Permission } from '../calling/permission.js';
import { Publication } from '../catalogue/publication.js';
import { completed } from '../tools/override.js';
import type { HostDeps } from './hostDeps.js';
import { ConfiguredServers } from './servers.js';

export function createHost(deps: HostDeps): Host {
  const { services, settings, consent } = deps;
  const permission = new Permission(consent.toolPermissions, () => servers.republish());
  const publication = new Publication({
    services,
    offerReview: consent.offerReview,
    offersAdmin: settings.offersAdmin,
    verdictOf: permission.verdictOf,
    servingOf: (server) => servers.unitOf(server)?.published,
  });
  const servers: ConfiguredServers = new ConfiguredServers(deps, publication);
  const calls = new ToolsetCalls({
    services,
    publication,
    permission,
    unitOf: servers.unitOf,
    snapshot: () => servers.snapshot,
    admin: servers,
    onActivity: servers.onActivity,
  });
  return {
    get catalogue() {
      return publication.catalogue;
    },
    onDidPublish: publication.onDidPublish,
    shortName: (server) => publication.shortName(server),
    catalogueFor: (conversation) => publication.catalogueFor(conversation),

    call: (call) => calls.call(call),
    request: (request) => calls.request(request),
    completed,
    permission,

    get snapshot() {
      return servers.snapshot;
    },
    onDidChange: servers.onDidChange,
    launchOf: (server) => servers.launchOf(server),
    setSources: (sources) => servers.setSources(sources),
    reload: () => servers.reload(),
    reapply: () => servers.reapply(),
    start: (server) => servers.start(server),
    stop: (server) => servers.stop(server),
    restart: (server) => servers.restart(server),
    release: (server, conversation) => servers.release(server, conversation),
    signIn: (server, browser, signal) => servers.signIn(server, browser, signal),
    signOut: (server) => servers.signOut(server),
    noteClient: (client, change) => servers.noteClient(client, change),
    noteListed: (toolset, conversation) => servers.noteListed(toolset, conversation),
    dispose: () => servers.dispose(),
  };
}
