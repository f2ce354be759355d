import assert from 'node:assert/strict';
import { literal, type StdioLaunch, type Value } from '../../../src/core/config/model.js';
import { packageOf } from '../../../src/core/packages/package.js';
import { pinned } from '../../../src/core/packages/pin.js';

const digest = `sha256:${'a'.repeat(64)}`;

function launchOf(command: string, args: readonly (string | Value)[]): StdioLaunch {
  const values = args.map((arg) => (typeof arg === 'string' ? literal(arg) : arg));
  return { transport: 'stdio', command, args: values, cwd: '/ws', env: new Map() };
}

function read(line: string): string | undefined {
  const [command = '', ...args] = line.split(' ').map((word) => word.replaceAll('_', ' '));
  const found = packageOf(launchOf(command, args));
  if (!found) return undefined;
  const { launcher, name, requested = '', pinned: isPinned, argument } = found;
  assert.ok(args[argument]?.includes(name), 'the argument has the name');
  return `${launcher}: ${name}@${requested}${isPinned ? ' pinned' : ''}`;
}

describe('the package of a launch (C8)', () => {
  const readable: Readonly<Record<string, string>> = {
    'npx x': 'npx: x@',
    'npx -y x@1.2.3 --stdio': 'npx: x@1.2.3 pinned',
    'npx -y @a/b@latest': 'npx: @a/b@latest',
    'npx --package=x@^1 bin': 'npx: x@^1',
    'npx -p @a/b@v1.2.3 bin': 'npx: @a/b@v1.2.3 pinned',
    'npx -y -- x@=1.2.3': 'npx: x@=1.2.3 pinned',
    'npx --registry https://r.example x@1.0.0-beta.1': 'npx: x@1.0.0-beta.1 pinned',
    'npx -y x@1.2': 'npx: x@1.2',
    'npx -y x@1.2.x': 'npx: x@1.2.x',
    '/usr/bin/npx x': 'npx: x@',
    'C:\\node\\npx.cmd -y x': 'npx: x@',
    'cmd /c npx -y x@1.0.0': 'npx: x@1.0.0 pinned',
    'sh -c npx_-y_x@1.0.0': 'npx: x@1.0.0 pinned',
    'env A=b npx x@2.0.0': 'npx: x@2.0.0 pinned',
    'env -C d npx x@2.0.0': 'npx: x@2.0.0 pinned',
    'sh -c cd_d_&&_npx_x@1.0.0': 'npx: x@1.0.0 pinned',
    'npm exec -y -- x@1.0.0': 'npm exec: x@1.0.0 pinned',
    'npm x x': 'npm exec: x@',
    'npm --prefix d exec x': 'npm exec: x@',
    'pnpm dlx x@1': 'pnpm dlx: x@1',
    'pnpm --package=x dlx bin': 'pnpm dlx: x@',
    'pnpx x@1.0.0': 'pnpm dlx: x@1.0.0 pinned',
    'yarn dlx -p x bin': 'yarn dlx: x@',
    'bunx --bun x@2.0.0': 'bunx: x@2.0.0 pinned',
    'bun x x': 'bunx: x@',
    'uvx mcp-server-git': 'uvx: mcp-server-git@',
    'uvx pkg==1.2.3': 'uvx: pkg@1.2.3 pinned',
    'uvx pkg[a,b]==1.2': 'uvx: pkg@1.2 pinned',
    'uvx pkg@1.2.3': 'uvx: pkg@1.2.3 pinned',
    'uvx pkg@latest': 'uvx: pkg@latest',
    'uvx pkg>=1': 'uvx: pkg@>=1',
    'uvx a==1,<2': 'uvx: a@==1,<2',
    'uvx -p 3.12 --with other --from pkg==1.* bin': 'uvx: pkg@==1.*',
    'uv tool run --from x==1 y': 'uv tool run: x@1 pinned',
    'pipx run --spec x==1.0 y': 'pipx run: x@1.0 pinned',
    'docker run -i --rm -e X img:1': 'docker run: img@1',
    'docker run -eX img': 'docker run: img@',
    'docker run -i localhost:5000/a/b:tag': 'docker run: localhost:5000/a/b@tag',
    [`docker run -itv /a:/b ghcr.io/x/y@${digest}`]: `docker run: ghcr.io/x/y@${digest} pinned`,
    [`docker run -i img:1@${digest}`]: `docker run: img@${digest} pinned`,
    'docker --context a run i': 'docker run: i@',
    'sudo docker container run -i x': 'docker run: x@',
    'podman run --rm=true q/x': 'podman run: q/x@',
  };
  for (const [line, expected] of Object.entries(readable))
    it(`${line} names ${expected}`, () => assert.equal(read(line), expected));

  const unreadable = [
    'npx',
    'npx -y',
    'npx -p x -p y bin',
    'npx --unknown x',
    'npx -yq x',
    'npx github:a/b',
    'npx a/b',
    'npx ./x',
    'npx ~/x',
    'npx file.tgz',
    'npx x@npm:y@1.0.0',
    'sh -c cd_$D_&&_npx_x@1.0.0',
    'sh -c cd_&&_npx_x@1.0.0',
    'sh -c cd_-_&&_npx_x@1.0.0',
    'sh -c cd_~/d_&&_npx_x@1.0.0',
    'sh -c export_CDPATH=e;_cd_d;_npx_x@1.0.0',
    'env --chdir npx x@1.0.0',
    'sudo --chroot=d npx x@1.0.0',
    'proxy -- npx x@1.0.0',
    'npx x@git+https://example.com',
    'uvx git+https://example.com',
    'uvx --with z --from git+https://example.com y',
    'uv run x',
    'docker run --unknown X img',
    'docker run -i $IMG',
    'docker run -iz X img',
    'docker exec x y',
    'docker run',
    'node server.js',
    'deno run npm:x',
  ];
  for (const line of unreadable)
    it(`${line} names nothing that can be read`, () => assert.equal(read(line), undefined));

  it('a reference may hold an option or the package, and is passed over as a value', () => {
    const secret: Value = {
      kind: 'reference',
      source: { kind: 'env', name: 'X' },
      prefix: '',
      suffix: '',
      fallback: undefined,
      value: 'x@1.0.0',
    };
    assert.equal(packageOf(launchOf('npx', [secret])), undefined);
    assert.equal(packageOf(launchOf('docker', ['run', secret, 'img'])), undefined);
    assert.equal(packageOf(launchOf('docker', ['run', '-e', secret, 'img']))?.name, 'img');
  });

  it('long words take no time', () => {
    for (const one of [
      'a'.repeat(1e5),
      'a.'.repeat(5e4),
      `a@${'1.'.repeat(5e4)}`,
      'a/'.repeat(5e4),
    ])
      for (const launcher of ['npx', 'uvx'])
        assert.equal(packageOf(launchOf(launcher, [one])), undefined);
  });
});

describe('a pinned version (C8)', () => {
  const npx = { launcher: 'npx', name: 'x' };

  it('replaces the version behind the name', () => {
    assert.equal(pinned('x', npx, '1.2.3'), 'x@1.2.3');
    assert.equal(pinned('x@^1', { ...npx, requested: '^1' }, '1.2.3'), 'x@1.2.3');
    assert.equal(pinned('--package=x', npx, '1.2.3'), '--package=x@1.2.3');
    assert.equal(pinned('npx -y x --stdio', npx, '1.2.3'), 'npx -y x@1.2.3 --stdio');
    assert.equal(pinned('@a/x', { ...npx, name: '@a/x' }, '1.2.3'), '@a/x@1.2.3');
  });

  it('is none for two places, other launchers and a version that is none', () => {
    assert.equal(pinned('npx x x', npx, '1.2.3'), undefined);
    assert.equal(pinned('x', { launcher: 'uvx', name: 'x' }, '1.2.3'), undefined);
    assert.equal(pinned('x', npx, '1.2.3 && evil'), undefined);
    assert.equal(pinned('@a/x', npx, '1.2.3'), undefined);
  });
});
