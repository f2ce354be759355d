/**
 * The way of a call to its server, in four steps: find, permit, check again, send. Each step
 * returns the tool with its arguments, or the answer that the caller gets instead.
 *
 * Time passes between the steps, because a server may have to start and a person may be asked. So
 * three things are looked at twice:
 * - Readiness. The first look starts a server whose list is from an earlier window (P8). The second
 *   one waits again if the server stopped or was replaced while a person was asked (S4).
 * - The tool. A person allows the tool that they saw (S4). If its name belongs to another tool by
 *   then, the call is not made.
 * - The override. The first look refuses arguments that the file does not allow, before anyone is
 *   asked (O3). The second one refuses if other arguments would be sent than the person saw (O5).
 *   Each refuses the arguments of a call that a permission denies (S4e).
 *
 * From the second look to the sending, nothing waits.
 */
import { withSignInCommand } from '../base/signInCommand.js';
import { canonicalJson } from '../base/canonicalJson.js';
import { asFields } from '../base/isObject.js';
import { asText } from '../base/text.js';
import { atOnce, inTurns, LoopShare, type Sliced } from '../base/turns.js';
import { adminId, callAdminTool, type AdminDeps } from '../catalogue/admin.js';
import type { Publication } from '../catalogue/publication.js';
import type { PoolFailure } from '../instances/pool.js';
import type { Services } from '../instances/services.js';
import { errorCodes } from '../protocol/errors.js';
import type {
  OtherOutcome,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../protocol/request.js';
import { rightStructure } from '../protocol/shapes.js';
import { isAboutTask, needsTask } from '../protocol/versions.js';
import type { ServerUnit } from '../reconcile/serverUnit.js';
import type { StatusSnapshot } from '../reconcile/status.js';
import { withReadableBytes } from '../results/binaries.js';
import type { ServedTool } from '../tools/catalogue.js';
import { completed } from '../tools/override.js';
import type { PermissionVerdict } from '../tools/permissions.js';
import {
  errorResult,
  failedCall,
  notMade,
  refused,
  requestText,
  stopped,
  unknownTool,
} from './callTexts.js';
import type { Permission } from './permission.js';

interface CallsDeps {
  readonly services: Services;
  readonly publication: Pick<Publication, 'tool'>;
  readonly permission: Pick<Permission, 'permit' | 'judge' | 'isAskable'>;
  readonly unitOf: (server: string) => ServerUnit | undefined;
  readonly snapshot: () => StatusSnapshot;
  readonly admin: AdminDeps;
  /** Called when a call begins and when it ends. */
  readonly onActivity: () => void;
}

/** A tool and the arguments that go to its server. */
interface Sendable {
  readonly tool: ServedTool;
  readonly sends: ToolsetCall['arguments'];
}

interface Found extends Sendable {
  readonly verdict: PermissionVerdict;
}

type Refusal = { readonly refusal: ToolOutcome };
type Step = Found | Refusal;

export class ToolsetCalls {
  constructor(private readonly deps: CallsDeps) {}

  call(call: ToolsetCall): Promise<ToolOutcome> {
    return this.deps.services.recorder.recorded(call, () => this.answer(call));
  }

  request(request: ToolsetRequest): Promise<OtherOutcome> {
    return this.deps.services.recorder.recorded(request, () => this.answerOther(request));
  }

  /** Nothing waits if nothing must, so that a call reaches its instance in the same turn. */
  private async answer(call: ToolsetCall): Promise<ToolOutcome> {
    const finding = this.find(call);
    const found = finding instanceof Promise ? await finding : finding;
    if ('refusal' in found) return found.refusal;
    const asking = this.permit(call, found);
    const hasWaited = asking instanceof Promise;
    const permitted = hasWaited ? await asking : asking;
    if ('refusal' in permitted) return permitted.refusal;
    const checked = checkAgain(call, permitted, hasWaited ? this.present(call) : permitted);
    if ('refusal' in checked) return checked.refusal;
    const outcome = await this.send(call, checked);
    const { published } = checked.tool;
    if (outcome.kind !== 'result' || published === call.tool) return outcome;
    return { ...outcome, publishedName: published };
  }

  private find(call: ToolsetCall): Step | Promise<Step> {
    const tool = this.deps.publication.tool(call);
    if (!tool) return this.unknown(call);
    call.recording?.onFound(tool);
    const unit = this.startable(call, tool);
    return unit ? this.findAfterStart(call, tool, unit) : this.judged(call, tool);
  }

  private async findAfterStart(
    call: ToolsetCall,
    { published }: ServedTool,
    unit: ServerUnit,
  ): Promise<Step> {
    const ready = await unit.ready(call.signal);
    // The tool of an earlier window may be another one now, or gone (P8).
    if ('pool' in ready) return this.present(call);
    return { refusal: isFailure(ready) ? this.failed(call, published, ready) : ready };
  }

  private permit(call: ToolsetCall, found: Found): Step | Promise<Step> {
    const { tool, sends, verdict } = found;
    const permitted = this.deps.permission.permit(tool, withArguments(call, sends), verdict);
    return permitted === true ? found : this.permitAfter(permitted, call, found);
  }

  private async permitAfter(
    answer: Promise<boolean>,
    call: ToolsetCall,
    found: Found,
  ): Promise<Step> {
    if (!(await answer)) {
      if (call.signal.aborted) return { refusal: { kind: 'cancelled' } };
      const { isAskable } = this.deps.permission;
      const { published } = found.tool;
      return { refusal: isAskable ? notMade.refused(published) : notMade.unasked(published) };
    }
    // If the start fails, the next step finds no tool, or the server does not take the call.
    await this.startable(call, found.tool)?.ready(call.signal);
    return found;
  }

  /** Returns the tool that has the name now. */
  private present(call: ToolsetCall): Step {
    const tool = this.deps.publication.tool(call);
    return tool ? this.judged(call, tool) : this.unknown(call);
  }

  /** A permission judges the arguments that the server would get. */
  private judged(call: ToolsetCall, tool: ServedTool): Step {
    const found = withOverride(call, tool);
    if ('refusal' in found) return found;
    const { sends } = found;
    const verdict = this.deps.permission.judge(tool, sends);
    if (verdict.permission === 'deny') return { refusal: notMade.denied(tool.published, verdict) };
    return { tool, sends, verdict };
  }

  private unknown(call: ToolsetCall): Step {
    return { refusal: unknownTool(call, this.deps.snapshot()) };
  }

  /** Returns the server of a tool if it does not serve now. */
  private startable(call: ToolsetCall, { releases }: ServedTool): ServerUnit | undefined {
    const unit = this.deps.unitOf(call.toolset);
    return releases === undefined && unit && !unit.serving ? unit : undefined;
  }

  private async send(given: ToolsetCall, { tool, sends }: Sendable): Promise<ToolOutcome> {
    const call = withArguments(given, sends);
    const { toolset, conversation } = call;
    const { admin, unitOf, onActivity } = this.deps;
    const { original, published, releases } = tool;
    if (releases !== undefined || toolset === adminId) {
      return {
        kind: 'result',
        result: await callAdminTool(admin, original, sends, conversation),
      };
    }
    const unit = unitOf(toolset);
    if (!unit) return unknownTool(call, this.deps.snapshot());
    const { serving } = unit;
    onActivity();
    try {
      const called = {
        original,
        published,
        asTask: needsTask(tool.tool),
      };
      const outcome = (await serving?.pool.call(conversation, call, called)) ?? stopped;
      if (isFailure(outcome)) return this.failed(call, published, outcome);
      if (outcome.kind === 'result') serving?.outputs.note(tool, outcome.result);
      return readable(outcome, toolset, tool.tool.outputSchema);
    } finally {
      onActivity();
    }
  }

  private async answerOther(request: ToolsetRequest): Promise<OtherOutcome> {
    const { toolset, method, conversation, signal, params } = request;
    const unit = this.deps.unitOf(toolset);
    if (!unit) return refused(errorCodes.invalidParams, `There is no toolset "${toolset}".`);
    const ofTask = isAboutTask(method)
      ? unit.servingOfTask(asText(params['taskId']), conversation)
      : undefined;
    const ready = ofTask ?? unit.serving ?? (await unit.ready(signal));
    const isServed = 'pool' in ready;
    const outcome = isServed ? await ready.pool.request(conversation, request) : ready;
    const { uri } = params;
    if (isServed && method === 'resources/read' && typeof uri === 'string')
      ready.pages.note(uri, outcome);
    if (!isFailure(outcome)) return readable(outcome, toolset);
    return refused(errorCodes.server, this.warned(toolset, requestText(request, outcome)));
  }

  private failed(call: ToolsetCall, published: string, failure: PoolFailure): ToolOutcome {
    const { toolset } = call;
    const isServed = this.deps.unitOf(toolset)?.serving !== undefined;
    const [text, kind, reason] = failedCall(toolset, published, failure, isServed);
    const message = this.warned(toolset, text);
    // An app handles failed calls with its own words, and would show a result as a result.
    return call.fromApp ? refused(errorCodes.server, message) : errorResult(message, kind, reason);
  }

  private warned(server: string, text: string): string {
    const { redactor, log } = this.deps.services;
    const redacted = redactor.redact(withSignInCommand(text, server));
    log.write('warn', redacted);
    return redacted;
  }
}

/** @param now the tool that has the name now; `before` itself if nothing waited since */
function checkAgain(call: ToolsetCall, before: Found, now: Step): Step {
  if ('refusal' in now) return now;
  const { original, published } = now.tool;
  const allowed = call.consented ?? before.tool.original;
  if (original !== allowed) return { refusal: notMade.renamed(published) };
  const shown = call.seen ?? before.sends;
  const isShown = shown === now.sends || canonicalJson(shown) === canonicalJson(now.sends);
  return isShown ? now : { refusal: notMade.overrideChanged(published) };
}

function withOverride(call: ToolsetCall, tool: ServedTool): Sendable | Refusal {
  const { override, releases } = tool;
  if (releases !== undefined) return { tool, sends: { serverId: releases } };
  if (!override) return { tool, sends: call.arguments };
  const sent = completed(override, call.arguments);
  if (sent.kind === 'refused') return { refusal: notMade.override(tool.published, sent.message) };
  return { tool, sends: sent.arguments };
}

/** Most calls have no override, and a copy costs all who read it (P3). */
function withArguments(call: ToolsetCall, sent: ToolsetCall['arguments']): ToolsetCall {
  return sent === call.arguments ? call : { ...call, arguments: sent };
}

function isFailure(outcome: ToolOutcome | OtherOutcome | PoolFailure): outcome is PoolFailure {
  return outcome.kind !== 'result' && outcome.kind !== 'error' && outcome.kind !== 'cancelled';
}

/** Returns the server's answer with readable bytes (V1c) and objects for empty lists (X3e). */
function readable<Outcome extends ToolOutcome | OtherOutcome>(
  outcome: Outcome,
  server: string,
  outputSchema?: unknown,
): Outcome | Promise<Outcome> {
  if (outcome.kind === 'error')
    return { ...outcome, message: withSignInCommand(outcome.message, server) };
  if (outcome.kind !== 'result') return outcome;
  const { result: given } = outcome;
  const share = LoopShare.of(given);
  const withResult = (result: object): Outcome =>
    result === given ? outcome : { ...outcome, result };
  const work = readableResult(given, outputSchema);
  return share
    ? inTurns(work, share).then((result) => withResult(share.owns(result)))
    : withResult(atOnce(work));
}

function* readableResult(given: object, outputSchema: unknown): Sliced<object> {
  const result = yield* withReadableBytes(given);
  const { structuredContent: said } = asFields(result);
  if (outputSchema === undefined || said === undefined) return result;
  const structuredContent = yield* rightStructure(said, outputSchema);
  return structuredContent === said ? result : { ...result, structuredContent };
}
