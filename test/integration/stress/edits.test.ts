/**
 * The random edits of test/unit/stress on real processes, beside conversations that call through
 * the gateway. No edit loses a call, the published tools match the oracle, and no unknown process
 * is left. Every run prints its seed. `MCP_TOOLSETS_SEED=n` repeats a run.
 */
import assert from 'node:assert/strict';
import { adminId, adminNames } from '../../../src/core/catalogue/admin.js';
import { Agent } from '../../support/core/agent.js';
import { endStages, startStage, textOf, type Stage } from '../../support/core/stage.js';
import { untilNone, type TestProcess } from '../../support/processes.js';
import { emptyFile, randomEdit, type FileModel } from '../../unit/stress/edits.js';
import { Oracle } from '../../unit/stress/oracle.js';
import { Random, seedOf } from '../../unit/stress/random.js';
import { failureOf, offersOf, publishedOf, realText, realVocabulary } from './realServers.js';

const editsInAll = Number(process.env['MCP_TOOLSETS_EDITS'] ?? 100);
const callsAtLeast = editsInAll / 2;
/**
 * If a seed publishes too few tools, more edits follow up to this number until enough calls are
 * possible.
 */
const editsAtMost = 10 * editsInAll;
const goneWithinMs = 10_000;

describe('random edits of real servers', function () {
  this.timeout(0);
  let stage: Stage;
  const oracle = new Oracle(adminNames);
  const lost: string[] = [];
  let answered = 0;
  let finished = false;

  afterEach(endStages);

  it(`${editsInAll} edits of real servers lose no call in flight`, async () => {
    const seed = seedOf('MCP_TOOLSETS_SEED');
    const random = new Random(seed);
    stage = await startStage();
    let file: FileModel = emptyFile;
    let edits = 0;
    const trail: string[] = [];

    const apply = (next: FileModel, kind: string): Promise<void> => {
      file = next;
      trail.push(kind);
      edits++;
      const applied = stage.edit(realText(file, `edit ${edits}`));
      oracle.apply(file, '');
      return applied;
    };
    const settle = (): void => {
      for (const id of oracle.ids) {
        const { pending } = oracle.history(id);
        if (!pending) continue;
        const failure = failureOf(pending.launch);
        oracle.settle(
          id,
          failure === undefined ? { offers: offersOf(pending.launch) } : { failure },
        );
      }
    };
    /** An edit of other servers than those about to start. */
    const elsewhere = (): { file: FileModel; kind: string } | undefined => {
      const starting = oracle.ids.filter((id) => oracle.history(id).pending);
      for (let tries = 0; tries < 10; tries++) {
        const made = randomEdit(file, random, realVocabulary);
        const same = starting.every((id) =>
          made.file.entries.some((entry) => entry === oracle.entry(id)),
        );
        if (same && !made.file.broken) return made;
      }
      return undefined;
    };

    const talks = [0, 1, 2].map((index) => converse(index, new Random(seed + 1 + index)));
    try {
      while (edits < editsInAll || (answered <= callsAtLeast && edits < editsAtMost)) {
        const { file: next, kind } = randomEdit(file, random, realVocabulary);
        const applied = [apply(next, kind)];
        // A second edit before the first has any effect, and an edit in the middle of its starts.
        if (random.chance(0.2)) {
          const second = randomEdit(file, random, realVocabulary);
          applied.push(apply(second.file, `at once ${second.kind}`));
        }
        if (random.chance(0.2)) {
          await new Promise((resolve) => setImmediate(resolve));
          const third = elsewhere();
          if (third) applied.push(apply(third.file, `meanwhile ${third.kind}`));
        }
        await Promise.all(applied);
        settle();
        assert.deepEqual(publishedOf(stage), oracle.published());
        const codes = new Set(stage.host.snapshot.problems.map(({ code }) => code as string));
        assert.deepEqual([...codes].sort(), [...new Set(oracle.problems())].sort());
        assert.deepEqual(lost, []);
      }
      finished = true;
      await Promise.all(talks);
      assert.deepEqual(lost, []);
      assert.ok(answered > callsAtLeast, `${answered} calls were answered`);
      await untilNone(strangers, goneWithinMs);
    } catch (error) {
      const steps = trail.slice(-20).join(', ');
      throw new Error(`seed ${seed}, ${edits} edits: ${steps}\n${JSON.stringify(file)}`, {
        cause: error,
      });
    } finally {
      finished = true;
      await Promise.allSettled(talks);
    }
  });

  /** Processes besides the instances and the guardian. */
  function strangers(): TestProcess[] {
    const known = new Set(
      stage.host.snapshot.servers.flatMap(({ instances }) => instances.map(({ pid }) => pid)),
    );
    return stage
      .processes()
      .filter(({ pid, command }) => !known.has(pid) && !command.includes('guardian'));
  }

  async function converse(index: number, random: Random): Promise<void> {
    const agents = new Map<string, Agent>();
    for (let number = 0; !finished; number++) {
      const toolsets = stage.host.catalogue.toolsets.filter(
        ({ id, tools }) => id !== adminId && tools.length > 0,
      );
      if (toolsets.length === 0) {
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      const { id, tools } = random.pick(toolsets);
      const tool = random.pick(tools);
      const { version } = stage.host.catalogue;
      /** A call is not lost if an earlier edit had removed its tool. */
      const note = (text: string): void => {
        const went = /has no tool|not there any more|There is no toolset/.test(text);
        if (!went || stage.host.catalogue.version === version)
          lost.push(`${id}/${tool.published}: ${text}`);
      };
      try {
        const agent = agents.get(id) ?? (await Agent.connect(stage, id, 'agent'));
        agents.set(id, agent);
        const input = { ms: 200, text: `${index}.${number}` };
        const result = await agent.result(tool.published, input, { conversation: `d${index}` });
        if (result.isError === true) note(textOf(result));
        else answered++;
      } catch (error) {
        note(String(error));
        // The client came after the removal of the toolset, so it has no session.
        agents.delete(id);
      }
    }
  }
});
