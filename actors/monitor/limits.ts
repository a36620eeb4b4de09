// The bounds of the monitor of provider routes.
import assert from 'node:assert/strict';
import type { Config } from '../../runtime/config.ts';
import type { Widened } from '../../runtime/limits.ts';

/** Bounds that no variable changes. */
export const monitorLimits = {
  /** The first model status; probes begin before it. */
  firstSnapshotMs: 10_000,
  /** A provider that takes longer to describe a model will not serve well either. */
  probeTimeoutMs: 3_000,
  probesAtOnceMax: 8,
} as const;

export type MonitorLimits = Widened<typeof monitorLimits> & {
  /** Every provider route is probed at most this often. */
  readonly probeMs: number;
};

/** The bounds of the monitor in this process. */
export function createMonitorLimits(config: Config): MonitorLimits {
  assert.ok(
    2 * monitorLimits.probeTimeoutMs < monitorLimits.firstSnapshotMs,
    'the first probes are over when the first snapshot is made',
  );
  return { ...monitorLimits, probeMs: config.probeSeconds * 1_000 };
}
