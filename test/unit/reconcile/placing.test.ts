import assert from 'node:assert/strict';
import {
  isForEveryone,
  placeOf,
  type ComparedList,
  type GivenList,
  type Place,
} from '../../../src/core/reconcile/placing.js';

type Row = readonly [
  use: GivenList['use'],
  hasConversation: boolean,
  declaresSame: boolean,
  start: boolean,
  change: boolean,
];

/** The last two columns: is the first list, or a changed one, for everyone? */
const audiences: readonly Row[] = [
  ['shared', false, false, true, true],
  ['shared', true, true, true, true],
  ['warm', false, false, true, true],
  ['warm', false, true, true, true],
  ['leased', false, false, true, true],
  ['leased', false, true, true, true],
  ['leased', true, false, false, false],
  ['leased', true, true, true, false],
  ['spare', false, false, false, false],
  ['spare', false, true, false, true],
];

const changed: ComparedList = {
  cause: 'change',
  use: 'shared',
  hasConversation: false,
  declaresSame: true,
  isSame: false,
  isCommon: false,
  isRefused: false,
  isOneRefused: false,
};
const own: ComparedList = { ...changed, use: 'leased', hasConversation: true };
const refused = { isRefused: true };
const same = { isSame: true };
const again = { isSame: true, isCommon: true };

const places: readonly (readonly [ComparedList, Partial<ComparedList>, Place])[] = [
  [changed, {}, 'common'],
  [changed, refused, 'refused'],
  [changed, again, 'confirmed'],
  // The common list came from another instance since.
  [changed, same, 'common'],
  [changed, { ...same, ...refused }, 'refused'],
  [changed, { ...again, isOneRefused: true }, 'common'],
  [changed, { ...again, cause: 'start' }, 'common'],
  [changed, { cause: 'start', ...refused }, 'refused'],
  [own, {}, 'own'],
  [own, refused, 'ownRefused'],
  [own, same, 'unchanged'],
  [own, { isCommon: true }, 'own'],
  [own, { ...same, isOneRefused: true }, 'own'],
  [own, { cause: 'start' }, 'common'],
  [own, { cause: 'start', declaresSame: false }, 'own'],
  [own, { cause: 'start', declaresSame: false, ...refused }, 'ownRefused'],
];

describe('the place of a list (G3g)', () => {
  for (const [use, hasConversation, declaresSame, start, change] of audiences) {
    for (const [cause, isMeant] of Object.entries({ start, change })) {
      const words = [
        cause === 'start' ? 'the first' : 'a changed',
        `list of a ${use} instance`,
        hasConversation ? 'with' : 'without',
        `a conversation, which declares ${declaresSame ? 'the same' : 'something else'},`,
      ].join(' ');
      it(`${words} is ${isMeant ? '' : 'not '}for everyone`, () => {
        const list = { cause: cause as GivenList['cause'], use, hasConversation, declaresSame };
        assert.equal(isForEveryone(list), isMeant);
      });
    }
  }

  for (const [list, change, place] of places) {
    const whose = list === own ? 'the list of a conversation' : 'the list of a shared instance';
    it(`${whose} with ${JSON.stringify(change)} is ${place}`, () => {
      assert.equal(placeOf({ ...list, ...change }), place);
    });
  }
});
