/**
 * Approvals (S1) and running servers (R2) outlive an update, so fingerprints and hashes of launches
 * stay as they are.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describeLaunch } from '../../../src/core/approval/fingerprint.js';
import { assertGolden } from '../../support/golden.js';
import { parse, wholeFormat } from './fixtures.js';

const golden = path.join(import.meta.dirname, '../../golden');
const folder = path.join(golden, 'config');

function printsOf(name: string, text: string): string[] {
  const parsed = parse(text, {
    finders: {
      programs: ({ command }) => (command === 'a' ? ['/ws/bin/a'] : []),
      deciding: () => [],
    },
  });
  const servers = parsed.kind === 'accepted' ? parsed.servers : [];
  return servers.flatMap((server) => {
    if (server.kind === 'invalid') return [];
    const { id, launchHash } = server.definition;
    return [
      `${name} ${id}`,
      `  ${launchHash}`,
      `  ${describeLaunch(server.definition).fingerprint}`,
    ];
  });
}

describe('fingerprints and hashes of launches over updates', () => {
  it('fingerprints and hashes of the golden configs are those of earlier versions (S1, R2)', function () {
    // The fixtures have absolute paths of other systems.
    if (process.platform === 'win32') this.skip();
    const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
    const lines = names.flatMap((name) =>
      printsOf(name, readFileSync(path.join(folder, name), 'utf8')),
    );
    const all = [...lines, ...printsOf('every key', wholeFormat)];
    assertGolden(path.join(golden, 'launches.txt'), `${all.join('\n')}\n`);
  });
});
