/** Permissions that look at the arguments of a call (S4e). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import fc from 'fast-check';
import { readPermissionKey } from '../../../src/core/tools/argumentRules.js';
import {
  compilePermissions,
  permissionOf,
  permissionOfAll,
  toolPermissions,
  unreadRule,
  type ToolPermission,
} from '../../../src/core/tools/permissions.js';

type Sent = Readonly<Record<string, unknown>>;
type Setting = Readonly<Record<string, ToolPermission>>;

const exec = { original: 'exec', published: 'exec' };

function of(setting: Setting | readonly Setting[], sent?: Sent, names = exec): ToolPermission {
  const settings = Array.isArray(setting) ? (setting as readonly Setting[]) : [setting as Setting];
  return permissionOf(names, compilePermissions(settings), sent).permission;
}

const isMet = (key: string, permission: 'allow' | 'ask' | 'deny', sent: Sent): boolean => {
  const other = permission === 'allow' ? 'deny' : 'allow';
  return of({ exec: other, [key]: permission }, sent) === permission;
};

describe('the key of a rule with arguments (S4e)', () => {
  it('has a pattern of names, and pairs of an argument and a pattern in brackets', () => {
    assert.deepEqual(readPermissionKey('shell_*(command: git push*, a b: f(x): y)'), {
      kind: 'arguments',
      tool: 'shell_*',
      conditions: [
        ['command', 'git push*'],
        ['a b', 'f(x): y'],
      ],
    });
    assert.deepEqual(readPermissionKey('a(b: x,c: y)').kind, 'arguments');
    assert.deepEqual(readPermissionKey('shell_*'), { kind: 'tool', tool: 'shell_*' });
  });

  const unread = [
    'exec()',
    'exec(command)',
    'exec(command:git push)',
    'exec(command: )',
    'exec(command:  x)',
    'exec(command: x )',
    'exec(command: x',
    'exec(command: x) ',
    'exec(com*: x)',
    'exec(: x)',
    'exec(command: a, b)',
    'exec(url: https://a, http://b)',
    'exec(command: x,)',
    'exec (command: x)',
    'exec（command: x）',
  ];

  for (const key of unread)
    it(`in a form that cannot be read counts for the whole tool, and allows nothing: ${key}`, () => {
      assert.deepEqual(readPermissionKey(key), { kind: 'unread', tool: 'exec' });
      for (const permission of ['ask', 'deny'] as const) {
        const setting: Setting = { exec: 'allow', 'exec(command: x)': 'allow', [key]: permission };
        assert.equal(of(setting, { command: 'x' }), permission);
        assert.equal(permissionOfAll(exec, compilePermissions([setting])).permission, permission);
      }
      assert.equal(of({ exec: 'deny', [key]: 'allow' }, { command: 'x' }), 'deny');
      assert.match(unreadRule(key, 'deny') ?? '', /every call of "exec"/);
      assert.match(unreadRule(key, 'allow') ?? '', /allows nothing/);
    });

  it('that is the own name of a tool counts for that tool', () => {
    const own = { original: 'run(fast)', published: 'run_fast' };
    assert.equal(of({ 'run(fast)': 'deny' }, {}, own), 'deny');
    assert.equal(of({ 'run(fast)': 'deny' }), 'allow');
  });

  it('without a name of a tool counts for all tools', () => {
    assert.equal(of({ '(command: x)': 'deny' }, {}), 'deny');
    assert.equal(unreadRule('exec(command: x)', 'deny'), undefined);
  });
});

describe('a rule with arguments (S4e)', () => {
  it('goes before a rule without, and the strictest of those that match counts', () => {
    const setting: Setting = {
      exec: 'ask',
      'exec(command: git *)': 'allow',
      'exec(command: git push*)': 'deny',
      'e*(command: git push -f)': 'ask',
    };
    assert.equal(of(setting, { command: 'rm' }), 'ask');
    assert.equal(of(setting, { command: 'git status' }), 'allow');
    assert.equal(of(setting, { command: 'git push -f' }), 'deny');
    assert.equal(of(setting, {}), 'ask');
    assert.equal(of(setting), 'ask');
  });

  it('matches if all of its arguments match', () => {
    const key = 'exec(command: git*, cwd: /tmp/*)';
    assert.equal(isMet(key, 'deny', { command: 'git', cwd: '/tmp/x' }), true);
    assert.equal(isMet(key, 'deny', { command: 'git', cwd: '/home' }), false);
    assert.equal(isMet(key, 'deny', { command: 'git' }), false);
  });

  it('matches a list if any item does, or if it allows, if all do', () => {
    const key = 'exec(command: git*)';
    for (const permission of ['ask', 'deny'] as const) {
      assert.equal(isMet(key, permission, { command: ['ls', 'git'] }), true);
      assert.equal(isMet(key, permission, { command: ['ls', ['git']] }), true);
      assert.equal(isMet(key, permission, { command: [] }), false);
    }
    assert.equal(isMet(key, 'allow', { command: ['git', 'git x'] }), true);
    assert.equal(isMet(key, 'allow', { command: ['git', 'ls'] }), false);
    assert.equal(isMet('exec(command: *)', 'allow', { command: [] }), false);
    assert.equal(isMet('exec(command: *)', 'allow', { command: ['git', []] }), false);
  });

  it('matches any other value by its JSON, with sorted keys', () => {
    const json = { a: 1, b: { c: [null, 'x'], d: true } };
    assert.equal(isMet('exec(o: {"a":1*"b":*)', 'deny', { o: json }), true);
    assert.equal(isMet('exec(o: {"a":1*)', 'deny', { o: { b: 2, a: 1 } }), true);
    for (const [pattern, value] of [
      ['1.5', 1.5],
      ['1', 1.0],
      ['100', 1e2],
      ['true', true],
      ['null', null],
    ] as const)
      assert.equal(isMet(`exec(o: ${pattern})`, 'allow', { o: value }), true, pattern);
    assert.equal(isMet('exec(o: 1)', 'deny', { o: '1' }), true);
  });

  it('never matches an absent argument', () => {
    for (const name of ['command', 'toString', '__proto__'])
      for (const permission of ['allow', 'deny'] as const) {
        assert.equal(isMet(`exec(${name}: *)`, permission, {}), false);
        assert.equal(isMet(`exec(${name}: *)`, permission, { [name]: undefined }), false);
      }
    const own = JSON.parse('{"__proto__":"x"}') as Sent;
    assert.equal(isMet('exec(__proto__: x)', 'deny', own), true);
  });

  it('finds an argument in another spelling to deny, and lets none pass to allow (O3b)', () => {
    for (const name of ['Command', 'COMMAND', 'ｃommand'])
      assert.equal(isMet('exec(command: git*)', 'deny', { [name]: 'git' }), true, name);
    assert.equal(isMet('exec(command: git*)', 'allow', { Command: 'git' }), false);
    assert.equal(isMet('exec(command: git*)', 'allow', { command: 'git', Command: 'rm' }), false);
  });

  it('allows nothing that a shell would run behind a match', () => {
    const key = 'exec(command: git *)';
    for (const sign of ['\n', '\r', '\u2028', ';', '&', '|', '<', '>', '`', '$', '(', ')']) {
      assert.equal(isMet(key, 'allow', { command: `git ${sign}rm` }), false, JSON.stringify(sign));
      assert.equal(isMet(key, 'deny', { command: `git ${sign}rm` }), true, JSON.stringify(sign));
    }
    assert.equal(isMet(key, 'allow', { command: 'git log -p "a b"' }), true);
    assert.equal(isMet('exec(command: git * | wc *)', 'allow', { command: 'git x | wc -l' }), true);
    for (const command of ['git x ; a | wc -l', 'git x | wc -l | sh', 'git x wc -l'])
      assert.equal(isMet('exec(command: git * | wc *)', 'allow', { command }), false, command);
  });

  it('allows no step `..` out of a folder (O3a)', () => {
    const key = 'exec(path: /data/*)';
    assert.equal(isMet(key, 'allow', { path: '/data/a/b.txt' }), true);
    for (const path of [
      '/data/../etc/passwd',
      '/data/a/../../etc',
      '/data/%2e%2e/etc',
      '/data/%252e%252e/etc',
      '/data/.\u200b./etc',
      '/data/．．/etc',
      '/data/..\\etc',
      '\uffffdata\uffffx',
      '/Data/a',
    ]) {
      assert.equal(isMet(key, 'allow', { path }), false, path);
      assert.equal(isMet(key, 'allow', { path: ['/data/a', path] }), false, path);
    }
    assert.equal(isMet(key, 'deny', { path: '/data/../etc' }), true);
  });

  it('loosens no permission of another setting, nor of the other name (S4)', () => {
    const person: Setting = { '*': 'ask', exec: 'deny' };
    const workspace: Setting = { 'exec(command: *)': 'allow' };
    assert.equal(of([person, workspace], { command: 'ls' }), 'deny');
    assert.equal(of([{ '*': 'ask' }, workspace], { command: 'ls' }), 'ask');
    assert.equal(of([workspace, { 'exec(command: ls)': 'deny' }], { command: 'ls' }), 'deny');
    const renamed = { original: 'exec', published: 'x_exec' };
    const setting: Setting = { '*': 'deny', 'x_exec(command: ls)': 'allow' };
    assert.equal(of(setting, { command: 'ls' }, renamed), 'deny');
    assert.equal(
      of({ ...setting, 'exec(command: ls)': 'allow' }, { command: 'ls' }, renamed),
      'allow',
    );
  });
});

describe('the permission of all calls of a tool (S4e)', () => {
  const all = (...settings: Setting[]) => {
    const { permission, otherwise } = permissionOfAll(exec, compilePermissions(settings));
    return [permission, otherwise];
  };

  it('is `deny` only if some rule denies every call', () => {
    assert.deepEqual(all({ exec: 'deny' }), ['deny', undefined]);
    assert.deepEqual(all({ 'exec(a: x)': 'deny' }), ['allow', 'allow']);
    assert.deepEqual(all({ exec: 'deny', 'exec(a: x)': 'ask' }), ['ask', 'deny']);
    assert.deepEqual(all({ exec: 'deny', 'exec(a: x)': 'deny' }), ['deny', 'deny']);
    assert.deepEqual(all({ exec: 'deny' }, { 'exec(a: x)': 'allow' }), ['deny', 'deny']);
  });

  it('is `ask` only if a person is asked once about every call that is not denied (S4d)', () => {
    assert.deepEqual(all({ exec: 'ask', 'exec(a: x)': 'deny' }), ['ask', 'ask']);
    assert.deepEqual(all({ exec: 'ask', 'exec(a: x)': 'allow' }), ['allow', 'ask']);
    assert.deepEqual(all({ exec: 'allow', 'exec(a: x)': 'ask' }), ['allow', 'allow']);
  });
});

describe('the bounded work for rules with arguments (S4e)', () => {
  /** Takes the best of three, because another process may take the processor. */
  const took = (run: () => void): number =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const begin = performance.now();
        run();
        return performance.now() - begin;
      }),
    );

  const nested = (levels: number): unknown =>
    levels === 0 ? 'x' : levels % 2 ? [nested(levels - 1)] : { a: nested(levels - 1) };

  const long: readonly (readonly [string, Sent, string])[] = [
    ['a long text', { a: 'a'.repeat(16 * 2 ** 20) }, '*ab*ab'],
    [
      'a text for a pattern of many parts',
      { a: 'ab'.repeat(100_000) },
      `${'*abababab*'.repeat(500)}c`,
    ],
    ['a long list', { a: Array.from({ length: 500_000 }, () => 'ab') }, '*c*'],
    ['a large object', { a: Array.from({ length: 200_000 }, () => ({ b: 1 })) }, '*c*'],
    ['a deep value', { a: nested(3000) }, '*y*'],
    // A message has no larger object (S2f).
    [
      'an object of many keys',
      { a: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`a${at}`, 1])) },
      '*c*',
    ],
    [
      'many arguments',
      Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`a${at}`, 'x'])),
      '*c*',
    ],
  ];

  for (const [what, sent, pattern] of long)
    it(`is bounded for ${what}: in doubt, a rule denies and does not allow`, () => {
      assert.equal(isMet(`exec(a: ${pattern})`, 'deny', sent), true);
      assert.equal(isMet(`exec(a: ${pattern})`, 'allow', sent), false);
      const ms = took(() => isMet(`exec(a: ${pattern})`, 'deny', sent));
      assert.ok(ms < 500, `${ms} ms`);
    });

  it('is shared by all rules about a call', () => {
    const rules = Array.from({ length: 2000 }, (_, at) => [`exec(a: *${at}b*c*)`, 'ask'] as const);
    const compiled = compilePermissions([Object.fromEntries(rules)]);
    const sent = { a: 'x'.repeat(100_000) };
    assert.equal(permissionOf(exec, compiled, sent).permission, 'ask');
    const ms = took(() => permissionOf(exec, compiled, sent));
    assert.ok(ms < 500, `${ms} ms`);
  });

  it('a long text that no rule names costs nothing', () => {
    assert.equal(
      of(
        { exec: 'deny', 'exec(path: /tmp/*)': 'allow' },
        { path: '/tmp/a', text: 'x'.repeat(2 ** 24) },
      ),
      'allow',
    );
  });
});

/** A second reading of the rules, by sets of texts and without the code of the product. */
function expected(settings: readonly Setting[], names: typeof exec, sent: Sent): ToolPermission {
  const like = (pattern: string, text: string, free: string): boolean => {
    const literal = (part: string) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const parts = pattern.split('*').map(literal);
    return new RegExp(`^${parts.join(free)}$`, 's').test(text);
  };
  const met = (pattern: string, value: unknown, permission: ToolPermission): boolean => {
    const isToAllow = permission === 'allow';
    if (Array.isArray(value)) {
      const items = value.map((item) => met(pattern, item, permission));
      return isToAllow ? items.length > 0 && !items.includes(false) : items.includes(true);
    }
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return like(pattern, text, isToAllow ? '[^;&|<>`$()\\n\\r]*' : '.*');
  };
  const strict = (a: ToolPermission, b: ToolPermission): ToolPermission =>
    toolPermissions[Math.max(toolPermissions.indexOf(a), toolPermissions.indexOf(b))] ?? a;
  const judged = (setting: Setting, name: string): ToolPermission => {
    const withArguments: ToolPermission[] = [];
    let plain: { literals: number; permission: ToolPermission } | undefined;
    for (const [key, permission] of Object.entries(setting)) {
      const [tool = '', rest] = key.split('(', 2);
      if (!like(tool, name, '.*')) continue;
      if (rest === undefined) {
        const literals = tool.replaceAll('*', '').length;
        if (!plain || literals > plain.literals) plain = { literals, permission };
        else if (literals === plain.literals)
          plain = { literals, permission: strict(plain.permission, permission) };
        continue;
      }
      const pairs = key
        .slice(tool.length + 1, -1)
        .split(', ')
        .map((pair) => pair.split(': '));
      const all = pairs.every(
        ([argument = '', pattern = '']) =>
          Object.hasOwn(sent, argument) && met(pattern, sent[argument], permission),
      );
      if (all) withArguments.push(permission);
    }
    if (withArguments.length > 0) return withArguments.reduce(strict);
    return plain?.permission ?? 'allow';
  };
  return settings
    .flatMap((setting) => [judged(setting, names.original), judged(setting, names.published)])
    .reduce(strict, 'allow');
}

describe('rules with arguments beside a second reading (S4e)', () => {
  const text = fc.stringMatching(/^[ab;|\n(]{0,4}$/);
  const value = fc.oneof(
    text,
    fc.array(fc.oneof(text, fc.array(text, { maxLength: 2 })), { maxLength: 3 }),
    fc.constantFrom<unknown>(1, true, null, { a: 1 }),
  );
  const tool = fc.constantFrom('exec', 'x_exec', 'e*', '*', 'other');
  const pair = fc.tuple(
    fc.constantFrom('a', 'b'),
    fc.stringMatching(/^[ab*;|(]{1,4}$/).map((pattern) => pattern),
  );
  const key = fc.oneof(
    tool,
    fc
      .tuple(tool, fc.array(pair, { minLength: 1, maxLength: 2 }))
      .map(([name, pairs]) => `${name}(${pairs.map((one) => one.join(': ')).join(', ')})`),
  );
  const setting = fc.dictionary(key, fc.constantFrom(...toolPermissions), { maxKeys: 5 });
  const sent = fc.record({ a: value, b: value }, { requiredKeys: [] });
  const names = fc.constantFrom(exec, { original: 'exec', published: 'x_exec' });

  it('both readings agree about every call', () => {
    fc.assert(
      fc.property(fc.array(setting, { maxLength: 3 }), names, sent, (settings, tools, given) => {
        assert.equal(of(settings, given, tools), expected(settings, tools, given));
      }),
      { numRuns: 5000 },
    );
  });

  it('the permission of all calls is never stricter than that of one call', () => {
    fc.assert(
      fc.property(fc.array(setting, { maxLength: 3 }), names, sent, (settings, tools, given) => {
        const { permission } = permissionOfAll(tools, compilePermissions(settings));
        const one = of(settings, given, tools);
        assert.ok(toolPermissions.indexOf(permission) <= toolPermissions.indexOf(one));
      }),
      { numRuns: 3000 },
    );
  });

  it('a setting more never loosens a call', () => {
    fc.assert(
      fc.property(setting, setting, names, sent, (person, workspace, tools, given) => {
        const before = toolPermissions.indexOf(of([person], given, tools));
        assert.ok(toolPermissions.indexOf(of([person, workspace], given, tools)) >= before);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the settings editor and the keys of rules (S4e)', () => {
  const { contributes } = JSON.parse(
    readFileSync(path.join(import.meta.dirname, '../../../package.json'), 'utf8'),
  ) as { contributes: { configuration: { properties: Record<string, unknown> } } };
  const setting = contributes.configuration.properties['mcpToolsets.toolPermissions'] as {
    propertyNames: { pattern: string };
  };
  // VS Code compiles patterns with this flag.
  const marked = new RegExp(setting.propertyNames.pattern, 'u');

  it('it marks exactly the keys that cannot be read', () => {
    const key = fc
      .array(fc.constantFrom('exec', '(', ')', '（', ': ', ':', ', ', ',', ' ', '*', 'a', '\n'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(key, (text) => {
        assert.equal(marked.test(text), unreadRule(text, 'deny') === undefined, text);
      }),
      { numRuns: 20_000 },
    );
    for (const text of ['exec(a: b)', 'e*(a: b,c d: f(x), e: *)'])
      assert.equal(marked.test(text), true);
  });
});
