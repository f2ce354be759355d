/**
 * The gateway as an MCP server in the published conformance suite, one scenario per test. The
 * server behind it has the names expected by the suite. Each scenario is a session with a separate
 * instance.
 */
import {
  assertConformant,
  runConformance,
  startSuiteGateway,
} from '../../support/core/conformance.js';
import { endStages } from '../../support/core/stage.js';

const scenarios = [
  'server-initialize',
  'logging-set-level',
  'ping',
  'completion-complete',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-with-logging',
  'tools-call-error',
  'tools-call-with-progress',
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
  'dns-rebinding-protection',
];

describe('conformance of the gateway (G2)', function () {
  this.timeout(60_000);
  let url = '';

  before(async () => {
    // Fewer instances than scenarios, so finished scenarios make room.
    url = await startSuiteGateway('conformance', { maxInstances: 64 });
  });
  after(endStages);

  for (const scenario of scenarios) {
    it(scenario, async () =>
      assertConformant(await runConformance({ era: 'legacy', side: 'server', scenario, url })),
    );
  }
});
