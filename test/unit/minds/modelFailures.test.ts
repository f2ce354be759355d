/**
 * Retries and ends of a conversation (D4): the decision about another attempt, and the reading of
 * errors.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  afterFailure,
  failureOf,
  mostRetries,
  toolIn,
  type ModelFailure,
} from '../../../src/core/minds/modelFailures.js';

const coded = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code, name: 'LanguageModelError' });

describe('classification of a provider’s errors', () => {
  const cases: readonly (readonly [ModelFailure['kind'], Error])[] = [
    // Rejections: the same request would be refused again.
    [
      'rejected',
      new Error('Request Failed: 400 {"error":{"message":"","code":"invalid_request_body"}}'),
    ],
    [
      'rejected',
      new Error(
        "400 Invalid schema for function 'mcp_x_y': In context=('properties', 'a'), array schema missing items.",
      ),
    ],
    [
      'rejected',
      new Error(
        "Invalid 'tools[0].function.name': string does not match pattern. Expected ^[a-zA-Z0-9_-]+$",
      ),
    ],
    [
      'rejected',
      new Error(
        '{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.input_schema: oneOf is not supported"}}',
      ),
    ],
    ['rejected', new Error("This model's maximum context length is 128000 tokens.")],
    ['rejected', new Error('422 Unprocessable Entity')],
    ['rejected', new Error('HTTP 413: request too large')],
    ['rejected', Object.assign(new Error('no'), { status: 400 })],
    ['rejected', new Error('Response failed', { cause: new Error('status code: 400') })],
    // Not without a person.
    ['unavailable', coded('NoPermissions', 'Language model cannot be used by minds.mcp-toolsets.')],
    ['unavailable', coded('NotFound', "Language model 'x' is unknown.")],
    ['unavailable', coded('Blocked', 'You have no more requests this month.')],
    ['unavailable', new Error('401 Unauthorized')],
    ['unavailable', new Error('Request failed: 403 forbidden')],
    [
      'unavailable',
      new Error('429 You exceeded your current quota, please check your plan and billing details'),
    ],
    // Passing.
    ['transient', new Error('Request Failed: 503 Service Unavailable')],
    ['transient', new Error('Server error: 500')],
    ['transient', new Error('429 Too Many Requests')],
    ['transient', coded('Blocked', 'Rate limit exceeded. Try again in 5 seconds.')],
    [
      'transient',
      new Error('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
    ],
    ['transient', new Error('net::ERR_CONNECTION_RESET')],
    [
      'transient',
      new TypeError('fetch failed', {
        cause: coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'),
      }),
    ],
    ['transient', new Error('socket hang up')],
    ['transient', new Error('The request timed out.')],
    ['transient', new Error('getaddrinfo ENOTFOUND api.example.com')],
    // Not clearly anything: not tried again.
    ['unknown', new Error('Response contained no choices.')],
    ['unknown', new Error('')],
  ];
  for (const [kind, error] of cases) {
    it(`${kind}: ${error.message.slice(0, 70) || '(empty)'}`, () =>
      assert.equal(failureOf(error).kind, kind));
  }

  it('a classified failure keeps the text with its causes, and the time to wait', () => {
    const failure = failureOf(
      new Error('Request failed', { cause: new Error('429 rate limited, retry-after: 7') }),
    );
    assert.deepEqual(failure, {
      kind: 'transient',
      text: 'Request failed – 429 rate limited, retry-after: 7',
      retryAfterMs: 7000,
    });
    const wait = (text: string): unknown => {
      const read = failureOf(new Error(text));
      return read.kind === 'transient' && read.retryAfterMs;
    };
    assert.equal(wait('rate limit: try again in 250ms'), 250);
    assert.equal(wait('rate limit: try again in 1.5 s'), 1500);
    assert.equal(wait('rate limit: wait 2 minutes'), 120_000);
    assert.equal(wait('rate limit'), undefined);
  });

  it('any thrown value is classified', () => {
    fc.assert(fc.property(fc.anything(), (thrown) => typeof failureOf(thrown).text === 'string'));
  });

  it('the refused tool is found by its name or its index', () => {
    const sent = ['echo', 'shop_count', 'shop_count_all', 'the'];
    assert.equal(
      toolIn("Invalid schema for function 'shop_count_all': no", sent),
      'shop_count_all',
    );
    assert.equal(toolIn('tool shop_count is bad', sent), 'shop_count');
    assert.equal(toolIn('tools.0.custom.input_schema: no', sent), 'echo');
    assert.equal(toolIn("Invalid 'tools[1].function.name'", sent), 'shop_count');
    assert.equal(toolIn('the request is invalid', sent), undefined, 'a word of the sentence');
    assert.equal(toolIn('tools.9.name', sent), undefined);
    assert.equal(toolIn('context too long', sent), undefined);
  });
});

describe('stop policy', () => {
  const failure: fc.Arbitrary<ModelFailure> = fc.oneof(
    fc
      .constantFrom('rejected' as const, 'unavailable' as const, 'unknown' as const)
      .map((kind) => ({ kind, text: kind })),
    fc
      .option(fc.nat(100_000), { nil: undefined })
      .map((retryAfterMs) => ({ kind: 'transient' as const, text: 't', retryAfterMs })),
  );
  it('stopped and cancelled are final, and only temporary failures are retried, three times at most in a row', () => {
    const chance = fc.double({ min: 0, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(failure, fc.nat(10), chance, (found, retries, by) => {
        const next = afterFailure(found, retries, by);
        if (next.kind !== 'retry') return;
        assert.equal(found.kind, 'transient');
        assert.equal(next.attempt, retries + 1);
        assert.ok(next.attempt <= mostRetries);
        assert.ok(next.delayMs >= 1000);
      }),
    );
  });

  it('retries of several conversations are spread', () => {
    const wait = (chance: number): number => {
      const next = afterFailure(
        { kind: 'transient', text: '', retryAfterMs: undefined },
        0,
        chance,
      );
      return next.kind === 'retry' ? next.delayMs : 0;
    };
    assert.deepEqual([wait(0), wait(0.5)], [1000, 1125]);
  });
});
