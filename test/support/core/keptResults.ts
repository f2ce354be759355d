/** Keeps result files on the disk as the product does, below the folder of a stage. */
import path from 'node:path';
import { systemClock } from '../../../src/core/base/clock.js';
import { Delivery } from '../../../src/core/results/delivery.js';
import { DiskArtifacts } from '../../../src/core/results/diskArtifacts.js';
import type { Stage } from './stage.js';

interface Limits {
  /** In bytes, read at each result. */
  readonly maxResultBytes: () => number;
  readonly quota: () => number;
}

interface KeptResults {
  readonly folder: string;
  readonly delivery: Delivery;
  /** Resolves when all writes are done. */
  settled(): Promise<void>;
}

const usual: Limits = { maxResultBytes: () => 1 << 20, quota: () => 200 << 20 };

/** The end of the stage waits for open writes. */
export function keepResults(stage: Stage, limits: Partial<Limits> = {}): KeptResults {
  const { maxResultBytes, quota } = { ...usual, ...limits };
  const folder = path.join(path.dirname(stage.folder), 'storage');
  const artifacts = new DiskArtifacts({
    folder,
    quota,
    clock: systemClock,
    log: stage.logs.sink(),
  });
  stage.onDispose(() => artifacts.settled());
  return {
    folder,
    delivery: new Delivery({ artifacts, maxResultBytes }),
    settled: () => artifacts.settled(),
  };
}
