/** The core as the product joins it, for tests: what a test does not care about is quiet, fixed and empty. */
import { assemble, type Core, type CoreDeps } from '../../../src/core/host/assemble.js';
import { silentLog } from '../fakes/silentLog.js';

/** The clock has no default: whether time is played by hand is every test's own decision. */
type TestCoreOptions = Partial<CoreDeps> & Pick<CoreDeps, 'clock'>;

export function testCore(options: TestCoreOptions): Core {
  return assemble({
    log: silentLog,
    serverLog: () => silentLog,
    env: {},
    version: '0.0.0-test',
    filteredTools: () => 'information',
    random: () => 0.5,
    ...(options.connector && { directoryExists: () => true }),
    ...options,
  });
}
