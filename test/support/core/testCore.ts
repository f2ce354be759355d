/** The core in the product's form, for tests. Parts without a role in a test are quiet, fixed and empty. */
import { assemble, type Core, type CoreDeps } from '../../../src/core/host/assemble.js';
import { silentLog } from '../fakes/silentLog.js';

/** The clock has no default, because every test decides between real and manual time. */
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
