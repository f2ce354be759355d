/**
 * The command line as a process (H1): tools, resources and prompts of servers, and
 * calls of tools.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandLine } from '../../support/core/commandLine.js';
import {
  fixture,
  officialServer,
  rawWith,
  several,
  type Servers,
} from '../../support/core/configText.js';
import { within } from '../../support/core/within.js';
import { posixIt } from '../../support/notHere.js';

describe('command line: tools, resources, prompts', () => {
  let cli: CommandLine;

  before(async () => {
    cli = await CommandLine.open();
  });

  afterEach(() => {
    rmSync(cli.file, { recursive: true, force: true });
  });

  after(() => cli.close());

  describe('tools', () => {
    it('`tools` lists published tools with original names, and excluded tools with reasons', async () => {
      const { code, stdout } = await cli.runWith(several, 'tools');
      assert.equal(code, 0);
      assert.match(stdout, /^good +good_echo +echo$/m);
      assert.match(stdout, /^good +\(add\) +blacklist: add$/m);
      assert.doesNotMatch(stdout, /count/);
    });

    it('`tools` lists one server as JSON, and an unknown server is an error', async () => {
      const { code, stdout } = await cli.runWith(
        { ...several, other: rawWith(['pid']) },
        'tools',
        'other',
        '--json',
      );
      assert.equal(code, 0);
      const listed = JSON.parse(stdout) as { id: string; tools: { published: string }[] }[];
      assert.deepEqual(
        listed.map(({ id, tools }) => [id, tools.map(({ published }) => published)]),
        [['other', ['pid']]],
      );
      const unknown = await cli.run('tools', 'nobody');
      assert.equal(unknown.code, 1);
      assert.match(unknown.stderr, /no server "nobody"/);
    });

    it('`tools` lists a server from the registry', async () => {
      const { code, stdout } = await cli.runWith({ memory: officialServer('memory') }, 'tools');
      assert.equal(code, 0);
      assert.match(stdout, /^memory +read_graph$/m);
    });
  });

  describe('explain', () => {
    it('`explain` says on which roads a tool is offered, or by which line of the file it is not', async () => {
      const offered = await cli.runWith(several, 'explain', 'mcp__good__good_echo');
      assert.equal(offered.code, 0, offered.stderr);
      assert.match(
        offered.stdout,
        /^echo of good\n {2}editor {10}offered as mcp_good_\w+, if the tool picker of the chat has it on\n/,
      );
      assert.match(offered.stdout, /\n {2}other agents {4}offered as good_echo\n/);
      const keptOut = await cli.runWith(several, 'explain', 'add');
      assert.equal(keptOut.code, 1);
      const [, line = ''] =
        /blacklist: add \(\.minds\/mcp\.yaml:(\d+):\d+\)\. To publish it, /.exec(keptOut.stdout) ??
        [];
      assert.match(readFileSync(cli.file, 'utf8').split('\n')[Number(line) - 1] ?? '', /add/);
    });

    it('`explain` reads the members of the team, and names the servers that list nothing', async () => {
      const team = path.join(path.dirname(cli.file), 'team.yaml');
      writeFileSync(team, 'members:\n  ann: { toolsets: [good] }\n  bob: { toolsets: [] }\n');
      try {
        const { stdout } = await cli.runWith(several, 'explain', 'echo', '--json');
        const { tools } = JSON.parse(stdout) as {
          tools: { roads: { road: string; offered: boolean }[] }[];
        };
        assert.deepEqual(
          tools[0]?.roads.slice(3).map(({ road, offered }) => [road, offered]),
          [
            ['@minds as ann', true],
            ['@minds as bob', false],
          ],
        );
      } finally {
        rmSync(team);
      }
      const slip = await cli.runWith(several, 'explain', 'eco');
      assert.match(
        slip.stderr,
        /No server lists a tool that is called "eco"\. Did you mean "echo"\?/,
      );
      const unknown = await cli.runWith(
        { ...several, dead: fixture('exits') },
        'explain',
        'nothing_like_it',
      );
      assert.equal(unknown.code, 1);
      assert.match(
        unknown.stderr,
        /No server lists a tool that is called "nothing_like_it"\.\n[^]*"dead" has no tools now: its server is not able to run\. "dead" exited with code \d/,
        'the cause',
      );
      const wrong = { ...several, wrong: { transport: 'stdio' } };
      const toolset = await cli.runWith(wrong as Servers, 'explain', 'wrong');
      assert.equal(toolset.code, 1);
      assert.match(toolset.stderr, /`mcp-toolsets tools wrong` lists those of this toolset\.$/m);
      assert.match(toolset.stderr, /"wrong" has no tools now: .*Server `wrong` has no `command`\./);
      assert.equal((await cli.run('explain')).code, 2);
    });
  });

  describe('a call of an unknown tool', () => {
    const unknown = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await cli.runWith(several, 'call', ...args);
      assert.deepEqual([code, stdout], [1, '']);
      return stderr;
    };

    it('A call of a misspelt tool, or under the name of its server, names the published tool', async () => {
      for (const name of ['good_ehco', 'echo'])
        assert.match(await unknown(name), /publishes a tool "\w+"\. Did you mean "good_echo"\?/);
    });

    it('A call of a tool that is left out says why, and what to do', async () => {
      assert.match(await unknown('add'), /Agents do not get it: blacklist: add\. To publish it, /);
      const denied = await unknown('good_echo', '{}', '--deny', 'good_echo');
      assert.match(
        denied,
        /Agents do not get it: denied by your permissions: good_echo\. .*--deny/,
      );
    });
  });

  describe('resources and prompts (G4)', () => {
    const features: Servers = {
      one: fixture('features', [], { resources: { blacklist: ['note://two'] } }),
      two: fixture('features', [], { prompts: { transform: [{ prefix: 'two_' }] } }),
    };

    it('Resources and prompts are listed under the names and rules of the file, for all servers or one', async () => {
      const all = await cli.runWith(features, 'resources');
      assert.equal(all.code, 0, all.stderr);
      assert.match(all.stdout, /^one +note:\/\/one /m);
      assert.doesNotMatch(all.stdout, /^one +note:\/\/two /m);
      assert.match(all.stdout, /^two +note:\/\/two /m);
      assert.match(all.stdout, /^two +note:\/\/\{name\}\/raw /m);
      const prompts = JSON.parse((await cli.run('prompts', 'two', '--json')).stdout) as {
        id: string;
        prompts: { name: string; originalName: string }[];
      }[];
      assert.deepEqual(
        prompts.map(({ id, prompts }) => [
          id,
          ...prompts.map(({ name, originalName }) => `${name}=${originalName}`),
        ]),
        [['two', 'two_greet=greet', 'two_plan=plan']],
      );
      assert.match((await cli.run('prompts')).stdout, /^one +greet +/m);
      assert.equal((await cli.run('resources', 'nobody')).code, 1);
    });

    it('Resources are read and prompts are got, and filtered ones do not exist', async () => {
      const read = await cli.runWith(features, 'read', 'note://one');
      assert.equal(read.code, 0, read.stderr);
      assert.notEqual(read.stdout.trim(), '');
      const hidden = await cli.run('read', 'note://two', '--server', 'one');
      assert.equal(hidden.code, 1);
      assert.equal((await cli.run('read', 'note://two')).code, 0);
      const got = await cli.run('prompt', 'two_greet', '{"name":"Ada"}');
      assert.equal(got.code, 0, got.stderr);
      assert.match(got.stdout, /^user: .*Ada/m);
      assert.equal((await cli.run('prompt', 'greet', '{"name":"Ada"}', '--server', 'two')).code, 1);
      assert.equal((await cli.run('prompt', 'nothing')).code, 1);
      for (const asked of [
        ['read', 'note://one'],
        ['prompt', 'greet'],
      ])
        assert.equal(
          (await cli.run(...asked, '--server', 'nobody')).stderr.trim(),
          'There is no server "nobody".',
        );
      assert.equal((await cli.run('prompt')).code, 2);
    });

    it('The record of calls names the command line behind read and prompt', async () => {
      await cli.runWith(features, 'read', 'note://one');
      await cli.run('prompt', 'two_greet', '{"name":"Ada"}');
      const lines = (await cli.run('calls', '--last', '2')).stdout
        .split('\n')
        .filter((line) => / ok /.test(line));
      assert.deepEqual(
        lines.map((line) => line.split(/ {2,}/)[4]),
        ['mcp-toolsets', 'mcp-toolsets'],
        lines.join('\n'),
      );
    });

    it('A resource or prompt name of two servers requires --server', async () => {
      const both: Servers = { one: fixture('features'), two: fixture('features') };
      const { code, stderr } = await cli.runWith(both, 'prompt', 'greet', '{"name":"Ada"}');
      assert.equal(code, 1);
      assert.match(stderr, /one, two.*--server/);
      assert.equal((await cli.run('prompt', 'greet', '{"name":"Ada"}', '--server', 'two')).code, 0);
    });
  });

  describe('permissions (S4)', () => {
    const renamed: Servers = {
      a: rawWith(['echo', 'add', 'pid'], { transform: [{ prefix: { remove: 'ec', add: 'a_' } }] }),
    };
    const permissions = (): string => path.join(cli.home, '.minds', 'permissions.json');
    afterEach(() => rmSync(permissions(), { force: true }));

    const allow = (rules: object | string): void => {
      mkdirSync(path.dirname(permissions()), { recursive: true });
      writeFileSync(permissions(), typeof rules === 'string' ? rules : JSON.stringify(rules));
    };

    it("Permissions of the user’s file and of options hold, whatever the tool's new name", async () => {
      allow({ 'echo*': 'deny' });
      const listed = await cli.runWith(renamed, 'tools', '--deny', 'a_add');
      assert.match(listed.stdout, /^a +\(echo\) +denied .*: echo\*$/m);
      assert.match(listed.stdout, /^a +\(add\) +denied .*: a_add$/m);
      assert.match(listed.stdout, /^a +a_pid +pid$/m);
      assert.equal((await cli.run('call', 'a_ho', '{"text":"x"}')).code, 1);
      assert.equal(
        (await cli.run('call', 'a_ho', '{"text":"x"}', '--allow', 'echo*')).code,
        0,
        'an option goes before',
      );
    });

    it('A permission to ask is refused without a terminal', async () => {
      const { code, stdout, stderr } = await cli.runWith(
        renamed,
        'call',
        'a_pid',
        '{}',
        '--ask',
        'pid',
      );
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /No terminal is there to ask about the call of "a_pid"[^]*nobody could be asked/,
      );
    });

    it('`explain` applies them to other agents only, because the editor does not read them', async () => {
      const { code, stdout } = await cli.runWith(renamed, 'explain', 'a_pid', '--deny', 'pid');
      assert.equal(code, 0);
      assert.match(
        stdout,
        /editor +offered as [^]*other agents +not offered: denied by your permissions: pid/,
      );
    });

    it('Unreadable permissions let nothing start', async () => {
      allow('{ not json');
      const { code, stdout, stderr } = await cli.runWith(renamed, 'tools');
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /permissions\.json are not JSON/);
    });
  });

  describe('call', () => {
    it('`call` prints the text of the result', async () => {
      const { code, stdout, stderr } = await cli.runWith(
        several,
        'call',
        'good_echo',
        '{"text":"hello\\nthere"}',
      );
      assert.deepEqual([code, stdout, stderr], [0, 'hello\nthere\n', '']);
    });

    it('`call` sends no number as another one', async () => {
      const { code, stderr } = await cli.runWith(
        several,
        'call',
        'good_echo',
        '{"id":12345678901234567890}',
      );
      assert.equal(code, 2);
      assert.match(stderr, /12345678901234567890 would be sent as another number/);
    });

    it('`call` prints progress on stderr, and the result as JSON', async () => {
      const { code, stdout, stderr } = await cli.runWith(
        several,
        'call',
        'good_slow',
        '{"ms":20,"steps":2}',
        '--json',
      );
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(stdout), { content: [{ type: 'text', text: 'done' }] });
      assert.equal(stderr, '1 of 2 step 1\n2 of 2 step 2\n');
    });

    it('`call` prints structured content and other parts', async () => {
      const { code, stdout } = await cli.runWith({ a: fixture('raw') }, 'call', 'content');
      assert.equal(code, 0);
      assert.match(stdout, /^some text\n/);
      assert.match(stdout, /"type":"resource_link"/);
    });

    it("`call` answers questions of a tool with given values and with the form's defaults", async () => {
      const asks = { s: fixture('features') };
      const answered = await cli.runWith(
        asks,
        'call',
        'order',
        '{}',
        '--answers',
        '{"name":"Ada","more":1}',
      );
      assert.deepEqual(
        [answered.code, JSON.parse(answered.stdout)],
        [0, { action: 'accept', content: { name: 'Ada', count: 2, gift: true } }],
      );
      const incomplete = await cli.runWith(asks, 'call', 'order', '{}', '--answers', '{"count":3}');
      assert.deepEqual(JSON.parse(incomplete.stdout), { action: 'cancel' });
      assert.equal(
        incomplete.stderr,
        'The tool asks: Your order? It needs "name", which --answers does not contain.\n',
      );
      const nobody = await cli.runWith(asks, 'call', 'order', '{}');
      assert.match(nobody.stdout, /has not declared/);
    });

    it('`call` of a failing tool or server exits with 1 and the reason', async () => {
      const failed = await cli.runWith(several, 'call', 'good_fail', '{"text":"no disk"}');
      assert.deepEqual([failed.code, failed.stdout], [1, 'no disk\n']);
      const refused = await cli.runWith(several, 'call', 'good_throw', '{"text":"not now"}');
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /-32000: not now/);
      const died = await cli.runWith({ a: fixture('crashes-on-call') }, 'call', 'crash');
      assert.equal(died.code, 1);
      assert.match(died.stderr, /result unknown.*exited with code 70/);
    });

    it('`call` of an unpublished tool exits with 1 and lists problems as possible causes', async () => {
      const { code, stderr } = await cli.runWith(several, 'call', 'good_add', '{}');
      assert.equal(code, 1);
      assert.match(stderr, /No toolset publishes a tool "good_add"/);
      assert.match(stderr, /server-exited/);
    });

    for (const json of ['{not json', '[1]', '"text"', 'null', '7']) {
      it(`\`call\` with arguments other than a JSON object exits with 2 and starts nothing: ${json}`, async () => {
        const { code, stderr } = await cli.runWith(several, 'call', 'good_echo', json);
        assert.equal(code, 2);
        assert.match(stderr, /arguments are not (JSON|a JSON object)/);
      });
    }

    it('`call` does not wait for hanging servers', async () => {
      const config = { good: several['good'] ?? {}, hanging: fixture('never-initialises') };
      const { code, stdout } = await cli.runWith(config, 'call', 'good_echo', '{"text":"hi"}');
      assert.deepEqual([code, stdout], [0, 'hi\n']);
    });

    it('`call` waits for servers with a prior right to the name', async () => {
      const config = {
        slow: fixture('slow-start', ['--delay', '400', '--tools', 'count']),
        quick: rawWith(['echo', 'count']),
      };
      const { code, stderr } = await cli.runWith(config, 'call', 'count', '{}', '--debug');
      assert.equal(code, 0);
      assert.match(stderr, /slow: → tools\/call/);
    });
  });

  describe('interrupted commands', () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      posixIt('Windows has no signals')(
        `An interruption by ${signal} in a call cancels the call and ends everything`,
        async () => {
          cli.save({ a: fixture('hangs-on-call', [], { env: { X: 'y' } }) });
          const child = cli.begin('call', 'trickle', '--debug');
          const begun = new Promise<void>((resolve) => {
            child.stderr?.on('data', (chunk) => /^\d+$/m.test(String(chunk)) && resolve());
          });
          await within(begun, 'progress');
          child.kill(signal);
          const { code, stderr } = await cli.finish(child);
          assert.equal(code, signal === 'SIGINT' ? 130 : 143);
          assert.match(stderr, /notifications\/cancelled/);
        },
      );
    }

    posixIt('Windows has no signals')('An interruption while servers start ends them', async () => {
      cli.save({ a: fixture('never-initialises'), b: fixture('stubborn') });
      const child = cli.begin('status');
      await cli.untilRuns('never-initialises');
      child.kill('SIGINT');
      const { code, stdout } = await cli.finish(child);
      assert.deepEqual([code, stdout], [130, '']);
    });

    it('A reader that closes the pipe is not an error', async () => {
      cli.save({ a: fixture('pages', ['--pages', '10', '--tools-per-page', '1000']) });
      const child = cli.begin('tools');
      child.stdout?.once('data', () => child.stdout?.destroy());
      const { stderr } = await cli.finish(child);
      assert.equal(stderr, '');
    });
  });

  describe('--debug', () => {
    it('`--debug` shows logs and traffic on stderr without secrets, and leaves stdout unchanged', async () => {
      cli.env['CLI_SECRET'] = 'canary-of-the-host';
      const env = { TOKEN: { env: 'CLI_SECRET' }, OTHER: 'canary-in-the-file' };
      cli.save({ a: fixture('raw', [], { env }) });
      const { code, stdout, stderr } = await cli.run(
        'call',
        'stderr',
        '{"text":"token canary-of-the-host"}',
        '--debug',
      );
      assert.deepEqual([code, stdout], [0, 'written\n']);
      assert.match(stderr, /^\[trace\] a: → initialize /m);
      assert.match(stderr, /^\[trace\] a: ← tools\/call /m);
      assert.match(stderr, /^\[info\] a: \[stderr\] token •••$/m);
      assert.match(stderr, /^\[info\] Registry version/m);
      assert.doesNotMatch(stderr, /canary/);
    });

    it('Without `--debug` stderr is silent', async () => {
      const { stderr } = await cli.runWith({ a: fixture('noisy-stdout') }, 'status');
      assert.equal(stderr, '');
    });
  });
});
