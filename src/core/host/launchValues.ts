/**
 * Replaces the value commands of a launch by their output before it starts (C2). The redactor knows each value before
 * any other part does.
 */
import { createHash } from 'node:crypto';
import type { Disposable } from '../base/disposables.js';
import type { Log } from '../base/log.js';
import { isHeaderValue } from '../config/read/launch.js';
import { commandReferences, withOutputs } from '../config/read/launchReferences.js';
import { secretsOf } from '../config/read/launchSecrets.js';
import type { Launch } from '../config/model.js';
import type { StartFailure } from '../connections/connection.js';
import type { ValueCommands } from '../connections/stdio/valueCommands.js';

interface LaunchValuesDeps {
  readonly commands: Pick<ValueCommands, 'outputsFor'>;
  readonly keepSecret: (values: readonly string[]) => Disposable;
}

type Completion =
  | { readonly kind: 'complete'; readonly launch: Launch }
  | { readonly kind: 'failed'; readonly failure: StartFailure }
  | { readonly kind: 'cancelled' };

/** The limit of launches with remembered values: an instance may write one long after it was replaced. */
const mostKept = 1000;

export class LaunchValues {
  private readonly kept = new Map<string, Disposable>();

  constructor(private readonly deps: LaunchValuesDeps) {}

  async complete(launch: Launch, log: Log, signal: AbortSignal): Promise<Completion> {
    const references = commandReferences(launch);
    const outputs = await this.deps.commands.outputsFor(references, log, signal);
    if (outputs.kind !== 'known') return outputs;
    const complete = withOutputs(launch, outputs.of);
    this.keep(secretsOf(complete));
    for (const { source, path } of references) {
      const [what, name] = path;
      const isUsable = what !== 'headers' || complete.transport === 'stdio' || fits(complete, String(name));
      if (isUsable) continue;
      const message = `The output of ${source.argv[0]} cannot be the value of header \`${name}\`: it holds a line break, a control character or one beyond Latin-1.`;
      return {
        kind: 'failed',
        failure: { code: 'value-command-failed', message, fix: 'Make it print only the value.', path },
      };
    }
    return { kind: 'complete', launch: complete };
  }

  private keep(values: readonly string[]): void {
    const key = createHash('sha256').update(JSON.stringify(values)).digest('hex');
    if (this.kept.has(key)) return;
    this.kept.set(key, this.deps.keepSecret(values));
    const [oldest] = this.kept;
    if (this.kept.size <= mostKept || !oldest) return;
    this.kept.delete(oldest[0]);
    oldest[1].dispose();
  }
}

function fits(launch: Extract<Launch, { transport: 'streamable_http' }>, header: string): boolean {
  return isHeaderValue(launch.headers.get(header)?.value ?? '');
}
