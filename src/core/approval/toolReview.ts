/**
 * Tools that are no longer what they were when their server was approved (spec S3), as the core asks it of its shell.
 */
import type { Event } from '../base/events.js';
import type { OfferedTool } from '../tools/catalogue.js';
import type { LaunchDescription } from './fingerprint.js';
import type { ToolPart } from './toolPrints.js';

export interface ToolReview {
  /**
   * Which of these tools, by original name, changed and in what. Synchronous. A tool that this launch lists for the first
   * time is remembered as it is.
   */
  review(launch: LaunchDescription, tools: readonly OfferedTool[]): ReadonlyMap<string, readonly ToolPart[]>;
  /** Whether a changed tool is kept from agents until a person has accepted it. */
  holdsBack(): boolean;
  /** Accepted, forgotten, or `holdsBack` changed. */
  readonly onDidChange: Event<void>;
}
