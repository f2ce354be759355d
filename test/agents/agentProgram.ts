/** What of an agent the checks need to know besides its entries: how it finds the scripted model, and how it is started. */
import type { AgentKind } from '../../src/core/agents/agents.js';
import type { ProgramId } from './programs.js';
import type { StepId } from './steps.js';

export interface Around {
  readonly folder: string;
  readonly home: string;
  readonly modelUrl: string;
  /** The command line that joins a client over stdio to all toolsets of the folder. */
  readonly connect: { readonly command: string; readonly args: readonly string[] };
}

/** @param value an object is written as JSON */
export type WriteFile = (file: string, value: string | object) => void;

export interface AgentProgram {
  readonly id: ProgramId;
  /** For a person. */
  readonly title: string;
  /** Whose entries are written; where it is undefined, the settings have what a person writes by hand. */
  readonly entries: AgentKind | undefined;
  /** Whether its entries name the variable of the token, so that a person exports it. */
  readonly takesVariable: boolean;
  /** Settings that say nothing of the toolsets: the model, that the folder is trusted, that tools run without a question. */
  settle(around: Around, write: WriteFile): void;
  /** One conversation that begins with the prompt and ends with the model's last word. */
  start(around: Around, prompt: string): { readonly args: string[]; readonly env: Readonly<Record<string, string>> };
  /** What its model is to call while its servers connect; absent where it asks the model when they have. */
  readonly pastime?: { readonly tool: string; readonly args: object };
  /** What it cannot do whatever a server does, as a phrase: seen with the same server directly over stdio. */
  readonly limits: Partial<Record<StepId, string>>;
}
