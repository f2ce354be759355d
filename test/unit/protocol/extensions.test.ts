/** What may be a part of an extension that is not known here (X8). */
import assert from 'node:assert/strict';
import {
  mayBeOfExtension,
  mayBeToldByExtension,
  otherExtensions,
  shareExtension,
} from '../../../src/core/protocol/extensions.js';

const other = { 'example.com/other': { level: 1 } };
const known = { 'io.modelcontextprotocol/ui': {}, 'io.modelcontextprotocol/tasks': {} };

describe('extensions that are not known here (X8)', () => {
  it('may have any method but those of the protocol’s own families and those that no header can say', () => {
    for (const method of ['skills/list', 'resources/directory/read', 'com.example/do-it', 'resourcesList'])
      assert(mayBeOfExtension(method, { extensions: other }), method);
    for (const method of [
      ...['tools/secret', 'prompts/all', 'server/stop', 'tasks/list', 'notifications/x', 'initialize', 'ping'],
      ...['resources/read', 'resources/templates/list', 'resources/subscribe', '', 'a/', 'a b', 'a\r\nb', 'größe'],
      'x'.repeat(257),
    ])
      assert(!mayBeOfExtension(method, { extensions: other }), method);
  });

  it('a server has no unknown extensions if it declares only known ones, or unreadable ones', () => {
    for (const extensions of [undefined, null, [], known, { 'example.com/other': true }, { ...known, x: null }]) {
      assert(!mayBeOfExtension('skills/list', { extensions }));
      assert(!mayBeToldByExtension('notifications/other', { extensions }));
      assert(!shareExtension({ extensions: other }, { extensions }));
      assert.deepEqual(otherExtensions({ extensions }), {});
    }
    assert(shareExtension({ extensions: { ...known, ...other } }, { extensions: other }));
    assert.deepEqual(otherExtensions({ extensions: { ...known, ...other } }), other);
  });

  it('extensions report only notifications unknown to the protocol', () => {
    const server = { extensions: other };
    assert(mayBeToldByExtension('notifications/example.com/heard', server));
    for (const method of ['notifications/tasks', 'notifications/cancelled', 'notifications/roots/list_changed'])
      assert(!mayBeToldByExtension(method, server), method);
  });
});
