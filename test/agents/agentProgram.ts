/**
 * Facts about an agent for the checks, besides its entries: its way to the scripted model, and its
 * start.
 */
import type { AgentKind } from '../../src/core/agents/agents.js';
import type { ProgramId } from './programs.js';
import type { StepId } from './steps.js';

export interface Around {
  readonly folder: string;
  readonly home: string;
  readonly modelUrl: string;
  /** The command line that connects a client over stdio to all toolsets of the folder. */
  readonly connect: { readonly command: string; readonly args: readonly string[] };
}

/** @param value an object is written as JSON */
export type WriteFile = (file: string, value: string | object) => void;

export interface AgentProgram {
  readonly id: ProgramId;
  /** For a person. */
  readonly title: string;
  /**
   * The kind of the written entries. If undefined, the settings contain entries written by hand.
   */
  readonly entries: AgentKind | undefined;
  /** Settings beside the toolsets: the model, the trusted folder, tools without questions. */
  settle(around: Around, write: WriteFile): void;
  /** One conversation, from the prompt to the model's last text. */
  start(
    around: Around,
    prompt: string,
  ): { readonly args: string[]; readonly env: Readonly<Record<string, string>> };
  /**
   * The call of its model while its servers connect. Absent if it asks the model only after they
   * have connected.
   */
  readonly pastime?: { readonly tool: string; readonly args: object };
  /**
   * Its limits with any server, as phrases. They were seen with the same server directly over
   * stdio.
   */
  readonly limits: Partial<Record<StepId, string>>;
}
