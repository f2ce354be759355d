/** The names of new secrets and variables (C6b). */
import assert from 'node:assert/strict';
import { newEntry } from '../../../src/core/config/edit/newServer.js';
import { importServers, withSecretsApart } from '../../../src/core/import/importServers.js';
import { heldIn, planImport } from '../../../src/core/import/plan.js';

const around = { folder: '/ws', home: '/home/ada' };
const outside = { label: 'x', isOfEditor: false, folders: around };

describe('a name that is in use (C6b)', () => {
  const file = (id: string, entry: object): string =>
    JSON.stringify({ mcpServers: { [id]: { command: 'node', ...entry } } });
  const planOf = (
    text: string,
    config: string | undefined,
    host: Readonly<Record<string, string>> = {},
  ) => {
    const plan = planImport({
      ...outside,
      text,
      file: '.mcp.json',
      config,
      valueOf: (name) => host[name],
    });
    assert.ok(plan.kind === 'planned');
    return plan;
  };
  const token = (value: string): object => ({ env: { GITHUB_TOKEN: value } });
  const [work, home] = [
    file('work', token('sk-work-123456')),
    file('home', token('sk-home-123456')),
  ];

  it('of another server in the config file stays with that server, and a further import adds nothing', () => {
    const first = planOf(work, undefined);
    const second = planOf(home, first.after);
    assert.deepEqual([...second.imported.secrets], [['HOME_GITHUB_TOKEN', 'sk-home-123456']]);
    assert.match(
      second.after,
      /work:[^]*\{ secret: GITHUB_TOKEN \}[^]*home:[^]*\{ secret: HOME_GITHUB_TOKEN \}/,
    );
    for (const text of [work, home]) assert.deepEqual(planOf(text, second.after).edits, []);
  });

  it('of the host or of the secret storage counts as free only with the same value', () => {
    const nameFor = (value: string): string[] => [
      ...planOf(work, undefined, { GITHUB_TOKEN: value }).imported.secrets.keys(),
    ];
    assert.deepEqual(
      [nameFor('sk-other-1234'), nameFor('sk-work-123456')],
      [['WORK_GITHUB_TOKEN'], ['GITHUB_TOKEN']],
    );
  });

  it('of the host is not the name of an input', () => {
    const inputs = [{ id: 'home', type: 'promptString', password: true }];
    const args = ['${input:path}', '${input:path}', '${input:home}'];
    const text = JSON.stringify({ inputs, servers: { fs: { command: 'npx', args } } });
    const { servers } = planOf(text, undefined, { PATH: '/bin', HOME: '/home/ada' }).imported;
    assert.deepEqual(servers[0]?.entry.args, [
      { env: 'FS_PATH' },
      { env: 'FS_PATH' },
      { secret: 'FS_HOME' },
    ]);
  });

  it('of a variable in the file is not the name of an input', () => {
    const args = ['${input:region}', '${env:REGION}'];
    const { servers } = planOf(file('a', { args }), undefined).imported;
    assert.deepEqual(servers[0]?.entry.args, [{ env: 'A_REGION' }, { env: 'REGION' }]);
  });

  it('of another server is not the name of a secret in an entry that a person types', () => {
    const held = heldIn(
      [
        'version: 1\nservers:\n  a: { transport: stdio, command: x, args: [{ secret: LAB_API_KEY }] }\n',
      ],
      () => undefined,
    );
    const made = withSecretsApart(
      'lab',
      newEntry('command', 'npx lab --api-key=sk-one-1234567890'),
      around,
      held,
    );
    assert.deepEqual([...(made?.secrets.keys() ?? [])], ['LAB_LAB_API_KEY']);
  });
});

describe('the secrets of new entries (C6)', () => {
  it('an entry that a person types is treated like an entry of a file', () => {
    const made = withSecretsApart(
      'lab',
      newEntry('command', 'npx lab --api-key=sk-one-1234567890 --fast'),
      around,
      () => undefined,
    );
    assert.deepEqual(made?.entry.args, [
      'lab',
      { prefix: '--api-key=', secret: 'LAB_API_KEY' },
      '--fast',
    ]);
    assert.deepEqual([...made.secrets], [['LAB_API_KEY', 'sk-one-1234567890']]);
    const plain = newEntry('url', 'https://example.com/mcp');
    assert.deepEqual(withSecretsApart('lab', plain, around, () => undefined)?.entry, plain);
  });

  it('a second secret of one name gets another variable', () => {
    const server = (token: string): object => ({ command: 'x', env: { API_KEY: token } });
    const text = JSON.stringify({
      a: server('sk-one-123456'),
      b: server('sk-two-123456'),
      c: server('sk-one-123456'),
    });
    const found = importServers({ text, file: '.mcprc', folders: around });
    const servers = found.kind === 'imported' ? found.servers : [];
    assert.deepEqual(
      servers.map(({ entry }) => entry.env?.['API_KEY']),
      [{ secret: 'API_KEY' }, { secret: 'B_API_KEY' }, { secret: 'API_KEY' }],
    );
  });
});
