// Every bound of the product as one object: the kernel's, and each domain's own. The relations
// between them are asserted here, at the start, so that a bad combination never serves a request.
import type { Config } from '../runtime/config.ts';
import { createKernelLimits, type KernelLimits } from '../runtime/limits.ts';
import { type AnalysisLimits, createAnalysisLimits } from './analysis/limits.ts';
import { type AudioLimits, createAudioLimits } from './audio/limits.ts';
import { type BlobLimits, blobLimits } from './blobs/limits.ts';
import {
  type CredentialLimits,
  credentialLimits,
  type KeyLimits,
  keyLimits,
} from './credentials/limits.ts';
import { createGenerationLimits, type GenerationLimits } from './generation/limits.ts';
import { createMonitorLimits, type MonitorLimits } from './monitor/limits.ts';
import { healthLimits } from './provider-health/limits.ts';
import {
  createVideoInspectionLimits,
  type VideoInspectionLimits,
} from './video/inspection-limits.ts';
import { createVideoLimits, type VideoLimits } from './video/limits.ts';
import { createVoiceLimits, type VoiceLimits } from './voice/limits.ts';
import { createLedgerLimits, type LedgerLimits } from './wallet/limits.ts';

export type Limits = KernelLimits & {
  readonly ledger: LedgerLimits;
  readonly credentials: CredentialLimits;
  readonly keys: KeyLimits;
  readonly monitor: MonitorLimits;
  readonly health: typeof healthLimits;
  readonly generation: GenerationLimits;
  readonly voice: VoiceLimits;
  readonly audio: AudioLimits;
  readonly blobs: BlobLimits;
  readonly analysis: AnalysisLimits;
  readonly videoInspection: VideoInspectionLimits;
  readonly video: VideoLimits;
};

/** All bounds of this process. Throws when configured values break a relation between them. */
export function createLimits(config: Config): Limits {
  const kernel = createKernelLimits(config);
  const ledger = createLedgerLimits(kernel);
  return {
    ...kernel,
    ledger,
    credentials: credentialLimits,
    keys: keyLimits,
    monitor: createMonitorLimits(config),
    health: healthLimits,
    generation: createGenerationLimits(config, kernel, ledger),
    voice: createVoiceLimits(config, ledger),
    audio: createAudioLimits(kernel),
    blobs: blobLimits,
    analysis: createAnalysisLimits(config),
    videoInspection: createVideoInspectionLimits(),
    video: createVideoLimits(config),
  };
}
