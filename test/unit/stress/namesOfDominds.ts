/**
 * The rules of Dominds' documents for names, as a table: a file and its servers, and the published
 * tools (N4, C1). `better` marks an intended difference and its reason.
 */
export interface DocumentedCase {
  readonly what: string;
  /** The entry of each server below `transport` and `command`, in YAML flow style. */
  readonly servers: Readonly<Record<string, string>>;
  /** The list of each server. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** `server/name` in the order for agents. */
  readonly published: readonly string[];
  /** `code server`, without information, sorted. */
  readonly problems?: readonly string[];
  readonly states?: Readonly<Record<string, string>>;
  readonly better?: string;
}

const browser = [
  'browser_click',
  'browser_snapshot',
  'page_open',
  'eval_unsafe',
  'browser_run_unsafe',
];

export const documentedCases: readonly DocumentedCase[] = [
  {
    what: 'no lists: all tools',
    servers: { a: '' },
    lists: { a: browser },
    published: browser.map((name) => `a/${name}`),
  },
  {
    what: 'empty lists are the same as none',
    servers: { a: 'tools: { whitelist: [], blacklist: [] }, transform: []' },
    lists: { a: ['x', 'y'] },
    published: ['a/x', 'a/y'],
  },
  {
    what: 'whitelist only: what it matches',
    servers: { a: "tools: { whitelist: ['page_*'] }" },
    lists: { a: browser },
    published: ['a/page_open'],
  },
  {
    what: 'whitelist and blacklist: the whitelist cherry-picks, and restricts nothing',
    servers: { a: "tools: { whitelist: [eval_unsafe], blacklist: ['*_unsafe'] }" },
    lists: { a: browser },
    published: ['a/browser_click', 'a/browser_snapshot', 'a/page_open', 'a/eval_unsafe'],
  },
  {
    what: 'the Playwright example, in which the whitelist rescues an unsafe tool',
    servers: {
      playwright:
        "tools: { whitelist: ['browser_*', 'page_*'], blacklist: ['*_unsafe'] }, transform: [{ prefix: 'playwright_' }]",
    },
    lists: { playwright: ['browser_click', 'browser_snapshot', 'browser_run_unsafe'] },
    published: [
      'playwright/playwright_browser_click',
      'playwright/playwright_browser_snapshot',
      'playwright/playwright_browser_run_unsafe',
    ],
    problems: ['pattern-matches-nothing playwright', 'pattern-overruled playwright'],
    better: 'Dominds says nothing of a pattern that is overruled or matches nothing.',
  },
  {
    what: 'patterns match original names',
    servers: { a: "tools: { whitelist: ['p_*'] }, transform: [{ prefix: p_ }]" },
    lists: { a: ['x', 'p_y'] },
    published: ['a/p_p_y'],
  },
  {
    what: 'the three transforms of the documents, in their order',
    servers: {
      a: 'transform: [{ prefix: playwright_ }, { prefix: { remove: stock_prefix_, add: my_prefix_ } }, { suffix: _playwright }]',
    },
    lists: { a: ['open', 'stock_prefix_close'] },
    published: [
      'a/my_prefix_playwright_open_playwright',
      'a/my_prefix_playwright_stock_prefix_close_playwright',
    ],
  },
  {
    what: 'transforms of `tools` stand for those of the server',
    servers: {
      a: 'transform: [{ prefix: a_ }], tools: { transform: [{ suffix: _t }] }',
      b: 'transform: [{ prefix: b_ }], tools: { transform: [] }',
      c: 'transform: [{ prefix: c_ }], tools: { transform: }',
    },
    lists: { a: ['x'], b: ['x'], c: ['x'] },
    published: ['a/x_t', 'b/x', 'c/c_x'],
    better:
      'Dominds refuses a server whose `transform` is empty as a value; here that is the same as none.',
  },
  {
    what: 'an item of `transform` has a prefix or a suffix, never both',
    servers: { a: 'transform: [{ prefix: p_, suffix: _s }]', b: '' },
    lists: { b: ['x'] },
    published: ['b/x'],
    problems: ['wrong-type a'],
    states: { a: 'invalid', b: 'running' },
    better: 'Dominds drops the suffix and says nothing; an order between the two cannot be told.',
  },
  {
    what: 'a manual is a text or a map, and one that is neither costs nobody the tools',
    servers: {
      a: "manual: 'For pages.'",
      b: 'manual: 42',
      c: 'manual: [x]',
      d: 'manual: { content: [x] }',
      e: "manual: ''",
    },
    lists: { a: ['a'], b: ['b'], c: ['c'], d: ['d'], e: ['e'] },
    published: ['a/a', 'b/b', 'c/c', 'd/d', 'e/e'],
    problems: ['wrong-type c', 'wrong-type d'],
    better: 'Dominds says nothing of a manual that it cannot read.',
  },
  {
    what: 'a prefix is replaced where it stands, and added where it does not',
    servers: { a: 'transform: [{ prefix: { remove: old_, add: new_ } }]' },
    lists: { a: ['old_x', 'y'] },
    published: ['a/new_x', 'a/new_y'],
  },
  {
    what: 'names out of the rule are rejected, never repaired',
    servers: { a: 'transform: [{ suffix: _v2 }]' },
    lists: { a: ['a.b', 'a b', 'ok', 'n'.repeat(62)] },
    published: ['a/ok_v2'],
    problems: ['published-name-invalid a', 'tool-name-invalid a', 'tool-name-invalid a'],
  },
  {
    what: 'a name out of the rule that a list keeps out is kept out by the list, without a warning',
    servers: { a: "tools: { blacklist: ['a.*'] }", b: 'tools: { whitelist: [x] }' },
    lists: { a: ['a.b', 'y'], b: ['a.b', 'x'] },
    published: ['a/y', 'b/x'],
    better: 'Dominds rejects the name first, and warns of a tool that nobody wanted.',
  },
  {
    what: 'a name that another server has is skipped, with a warning',
    servers: { a: '', b: '' },
    lists: { a: ['search'], b: ['search', 'open'] },
    published: ['a/search', 'b/open'],
    problems: ['name-taken b'],
  },
  {
    what: 'the name of a built-in tool is skipped',
    servers: { a: '' },
    lists: { a: ['mcp_restart', 'x'] },
    published: ['a/x'],
    problems: ['name-reserved a'],
  },
  {
    what: 'two tools that the transforms give one name refuse that server alone',
    servers: { a: "transform: [{ prefix: { remove: x_, add: '' } }]", b: '' },
    lists: { a: ['x_open', 'open'], b: ['search'] },
    published: ['b/search'],
    problems: ['name-twice-in-server a'],
    states: { a: 'failed', b: 'running' },
    better:
      'Dominds publishes the first of the two, so that the order of a list decides what a name means.',
  },
  {
    what: 'a name that the server lists twice counts once',
    servers: { a: '' },
    lists: { a: ['open', 'open', 'x'] },
    published: ['a/open', 'a/x'],
    problems: ['tool-listed-twice a'],
    better: 'Dominds keeps the first too, and says nothing.',
  },
  {
    what: 'sse is no transport, and costs that server alone',
    servers: { a: 'transport: sse', b: '' },
    lists: { b: ['x'] },
    published: ['b/x'],
    problems: ['transport-sse a'],
    states: { a: 'invalid', b: 'running' },
  },
  {
    what: 'a variable that is not set costs that server alone',
    servers: { a: 'env: { T: { env: NOT_SET } }', b: '' },
    lists: { b: ['x'] },
    published: ['b/x'],
    problems: ['env-unset a'],
    states: { a: 'invalid', b: 'running' },
  },
  {
    what: 'a suffix that is no text is an error, for tools and for prompts',
    servers: { a: 'transform: [{ suffix: 42 }]', b: 'prompts: { transform: [{ suffix: 42 }] }' },
    lists: {},
    published: [],
    problems: ['wrong-type a', 'wrong-type b'],
    states: { a: 'invalid', b: 'invalid' },
  },
  {
    what: 'a server that is switched off publishes nothing, and its mistakes are no errors',
    servers: { a: 'enabled: false, transform: [{ suffix: 42 }]', b: '' },
    lists: { b: ['x'] },
    published: ['b/x'],
    states: { a: 'disabled', b: 'running' },
  },
  {
    what: 'a blank pattern is no pattern',
    servers: { a: "tools: { whitelist: [''] }", b: "tools: { blacklist: ['  '], whitelist: [x] }" },
    lists: { a: ['p', 'q'], b: ['x', 'y'] },
    published: ['a/p', 'a/q', 'b/x'],
    problems: ['pattern-blank a', 'pattern-blank b'],
    better: 'Dominds refuses blank patterns, or lets them empty the list.',
  },
];
