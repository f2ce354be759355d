/**
 * Completes keys, toolset ids and members in `.minds/team.yaml` (D2), by its sketch, so broken YAML
 * works too.
 */
import { said } from '../base/language.js';
import { sketch, type Sketch, type SketchPath } from '../yaml/sketch.js';
import type { Span } from '../yaml/textPositions.js';

type Draft = {
  readonly label: string;
  readonly insert: string;
  readonly detail: string;
};
type Suggestion = Draft & { readonly span: Span };

/** `state` is a phrase such as `12 tools` or `failed`. */
type KnownToolset = { readonly id: string; readonly state: string };

/** @param text without a byte order mark */
export function completeTeam(
  text: string,
  offset: number,
  toolsets: readonly KnownToolset[],
): Suggestion[] {
  const read = sketch(text, offset);
  const { slot } = read;
  if (!slot) return [];
  const drafts =
    slot.role === 'key' ? keysAt(slot.path, slot.complete) : valuesAt(slot.path, read, toolsets);
  const space = slot.role === 'value' && !slot.spaced ? ' ' : '';
  return drafts.map((draft) => ({
    ...draft,
    insert: space + draft.insert,
    span: slot.span,
  }));
}

function keysAt(path: SketchPath, complete: boolean): Draft[] {
  const key = (label: string, detail: string, behind = ': '): Draft => {
    return {
      label,
      detail,
      insert: complete ? label : label + behind,
    };
  };
  if (path.length === 0) {
    return [
      key('members', said`who is in the team`, ':\n  '),
      key('member_defaults', said`for members without their own list`, ':\n  toolsets: '),
      key('default_responder', said`the member who answers if nobody was chosen`),
    ];
  }
  const isMember = path.length === 2 && path[0] === 'members';
  if (!isMember && !(path.length === 1 && path[0] === 'member_defaults')) return [];
  const toolsets = key('toolsets', said`the toolsets it is granted`);
  if (!isMember) return [toolsets];
  return [
    toolsets,
    key('name', said`the name that people see`),
    key('gofor', said`what it is there for`),
  ];
}

function valuesAt(path: SketchPath, read: Sketch, toolsets: readonly KnownToolset[]): Draft[] {
  if (path.length === 1 && path[0] === 'default_responder') {
    const members = read.box(['members'])?.entries ?? [];
    return members.map(({ key }) => ({
      label: key,
      insert: key,
      detail: said`a member`,
    }));
  }
  const at = path.indexOf('toolsets');
  const isGrants = path[0] === 'members' ? at === 2 : path[0] === 'member_defaults' && at === 1;
  if (!isGrants || path.length > at + 2) return [];
  const drafts = [
    ...toolsets.map(({ id, state }) => ({
      label: id,
      insert: id,
      detail: state,
    })),
    {
      label: '*',
      insert: "'*'",
      detail: said`every toolset`,
    },
    ...toolsets.map(({ id }) => ({
      label: `!${id}`,
      insert: `'!${id}'`,
      detail: said`takes it away`,
    })),
  ];
  // The place is behind the key itself. A list belongs there.
  return path.length === at + 1
    ? drafts.map((draft) => ({ ...draft, insert: `[${draft.insert}]` }))
    : drafts;
}
