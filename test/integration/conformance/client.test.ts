/**
 * Our client in the published conformance suite, one scenario per test.
 *
 * It runs 25 of 26. `auth/cross-app-access-complete-flow` is left out. In that extension the
 * identity provider of an enterprise gives tokens for a person it has signed in. An editor
 * extension has no such identity, because no stable API returns the ID token of an enterprise.
 */
import { assertClientConformant } from '../../support/core/conformance.js';

const scenarios = [
  'initialize',
  'tools_call',
  'sse-retry',
  'elicitation-sep1034-client-defaults',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/basic-cimd',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
];

describe('conformance of the client over HTTP, with sign-in (X2, X7)', function () {
  this.timeout(60_000);
  for (const scenario of scenarios) {
    it(scenario, () => assertClientConformant('legacy', scenario));
  }
});
