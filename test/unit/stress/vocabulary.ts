/** The words of a simulation: names, edits, and steps with their weights. */
import type { EditVocabulary } from './edits.js';

export const toolNames = ['t0', 't1', 't2', 'x_t0', 'x_t1', 'mcp_status', 'n'.repeat(50)];
export const vocabulary: EditVocabulary = {
  ids: ['a', 'b', 'c', 'd', 'e', 'f'],
  programs: ['p0', 'p1', 'p2', 'p3', 'p4', 'bad', 'flaky'],
  patterns: ['t*', '*0', 'x_*', 't1', '*', 'nothing*'],
  steps: [
    { prefix: 'p_' },
    { suffix: '_s' },
    { prefix: { remove: 'x_', add: '' } },
    { prefix: { remove: 't', add: 'u' } },
    { prefix: 'q'.repeat(12) },
  ],
};
export const conversations = ['d1', 'd2', 'd3'];

export const steps = {
  edit: 30,
  answerStarts: 25,
  editDuringStarts: 6,
  call: 22,
  answerCall: 18,
  cancelCall: 3,
  die: 5,
  changeTools: 6,
  brokenTools: 2,
  seconds: 4,
  halfMinute: 1.5,
  idle: 0.7,
  stop: 2,
  start: 2.5,
  restart: 2.5,
  release: 3,
  hostVariable: 1,
  settle: 6,
};
export type StepKind = keyof typeof steps;
