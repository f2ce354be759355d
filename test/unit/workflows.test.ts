/** The workflows: what a job with an identity may run, and which rights every other job has. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { planLanes } from '../support/testRun/plan.js';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Updates {
  readonly updates: readonly {
    readonly 'package-ecosystem': string;
    readonly schedule: { readonly interval: string };
    readonly groups: object;
  }[];
}

interface Cell {
  readonly os: string;
  readonly node: number;
  readonly part: string;
  readonly editor?: string;
}

interface Matrix {
  readonly os?: readonly string[];
  readonly node?: readonly number[];
  readonly part?: readonly string[];
  readonly include: readonly Cell[];
}

const cellsOf = ({ os = [], node = [], part = [], include }: Matrix): Cell[] => [
  ...os.flatMap((system) =>
    node.flatMap((version) => part.map((name) => ({ os: system, node: version, part: name }))),
  ),
  ...include,
];

const root = path.resolve(__dirname, '../..');
const folder = path.join(root, '.github/workflows');
const texts = readdirSync(folder).map((file): [string, string] => [
  file,
  readFileSync(path.join(folder, file), 'utf8'),
]);
const jobsOf = (text: string): [string, Job][] => Object.entries((parse(text) as Workflow).jobs);
const isTrusted = ({ permissions = {}, environment }: Job): boolean =>
  environment !== undefined || Object.values(permissions).includes('write');

describe('workflows', () => {
  for (const [file, text] of texts) {
    it(`${file} begins with the right to read, and runs nothing of a fork with more`, () => {
      const workflow = parse(text) as Workflow;
      assert.match(text, /^(?:#.*\n)*name: .*\npermissions:\n {2}contents: read\n(?! )/);
      assert.deepEqual(workflow.permissions, { contents: 'read' });
      assert.deepEqual(
        Object.keys(workflow.on).filter((event) => /_target$|^workflow_run$/.test(event)),
        [],
      );
    });

    it(`${file} pins each action by its commit, with the version beside it`, () => {
      const uses = [...text.matchAll(/uses: *(.*)/g)].map(([, action = '']) => action);
      assert.ok(uses.length > 0);
      for (const action of uses)
        assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    });

    it(`${file} leaves no token of the repository in a checkout, and puts no foreign text into a shell`, () => {
      for (const [, { steps }] of jobsOf(text))
        for (const { uses, run = '', with: given } of steps) {
          if (uses?.startsWith('actions/checkout@'))
            assert.equal(given?.['persist-credentials'], false);
          assert.doesNotMatch(run, /\$\{\{(?! matrix\.)/);
        }
    });
  }

  it('the parts of a change together run every lane of `npm test`, on each system and at most once on it', () => {
    const [, text = ''] = texts.find(([file]) => file === 'ci.yml') ?? [];
    const { jobs } = parse(text) as { jobs: Record<string, { strategy: { matrix: Matrix } }> };
    const cells = Object.values(jobs).flatMap(({ strategy }) => cellsOf(strategy.matrix));
    const titlesOf = (os: string): string[] =>
      cells
        .filter((cell) => cell.os === os && cell.node === 22 && cell.editor === undefined)
        .flatMap(({ part }) => planLanes(part.split(','), undefined))
        .map(({ lane }) => lane.title)
        .sort();
    const all = planLanes(undefined, undefined).map(({ lane }) => lane.title);
    for (const os of ['ubuntu-latest', 'windows-latest', 'macos-latest'])
      assert.deepEqual(titlesOf(os), all.sort(), os);
  });

  it('no commit runs a workflow twice: a push runs it for `main` and for tags only', () => {
    for (const [file, text] of texts) {
      const { push } = (parse(text) as Workflow).on as { push: { branches: string[] } };
      assert.deepEqual(push.branches, ['main'], file);
    }
  });

  it('a job with an identity or secrets checks out, installs, builds and fetches nothing but the tested files', () => {
    const trusted = texts.flatMap(([file, text]) =>
      jobsOf(text).map(([name, job]) => ({ file, name, job })),
    );
    const found = trusted.filter(({ job }) => isTrusted(job));
    assert.deepEqual(
      found.map(({ file, name }) => `${file} ${name}`),
      ['release.yml publish'],
    );
    for (const { job } of found) {
      assert.deepEqual(
        job.steps.flatMap(({ uses }) => uses?.split('@')[0] ?? []),
        ['actions/download-artifact', 'actions/setup-node', 'azure/login'],
      );
      const [download, check] = job.steps;
      assert.match(download?.uses ?? '', /^actions\/download-artifact@/);
      assert.match(
        check?.run ?? '',
        /sha256sum --check --strict/,
        'the digests are compared first',
      );
      for (const { run = '' } of job.steps)
        assert.doesNotMatch(
          run,
          /\bnpm (?!publish \S+\.tgz --ignore-scripts)|\bnpx\b|\bpip\b|\bwget\b|\bgit\b|node (?!vsce\.cjs)/,
        );
      assert.deepEqual([...(job.needs ?? [])].sort(), ['build', 'publisher']);
    }
  });

  it('the digests come from the jobs that tested and made the files, and cover every file', () => {
    const [, text = ''] = texts.find(([file]) => file === 'release.yml') ?? [];
    const { build, publisher, publish } = (parse(text) as Workflow).jobs;
    const runs = (job?: Job): string[] => (job?.steps ?? []).flatMap(({ run }) => run ?? []);
    const order = ['npm run check', 'npm run package', 'npx mocha', 'sha256sum'].map((command) =>
      runs(build).findIndex((run) => run.includes(command)),
    );
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
    assert.ok(!order.includes(-1));
    assert.ok(runs(publisher).includes('npm ci --ignore-scripts'));
    assert.match(
      JSON.stringify(publish),
      /needs\.build\.outputs\.digests.*needs\.publisher\.outputs\.digests/,
    );
  });

  it('updates of packages and of actions come grouped, once a week', () => {
    const { updates } = parse(
      readFileSync(path.join(root, '.github/dependabot.yml'), 'utf8'),
    ) as Updates;
    assert.deepEqual(
      updates.map((update) => update['package-ecosystem']),
      ['npm', 'github-actions'],
    );
    for (const { schedule, groups } of updates) {
      assert.equal(schedule.interval, 'weekly');
      assert.equal(Object.keys(groups).length, 1);
    }
  });

  it('each program that a workflow runs by npx is a package of the lock file', () => {
    const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { integrity?: string }>;
    };
    for (const [, text] of texts)
      for (const [, name = ''] of text.matchAll(/\bnpx ([\w@/.-]+)/g))
        assert.ok(packages[`node_modules/${name}`]?.integrity, name);
    assert.ok(packages['node_modules/@vscode/vsce']?.integrity);
  });
});
