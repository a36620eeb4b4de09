// Every bound of the product as one object: the kernel's, and each domain's own. The relations
// between them are asserted here, at the start, so that a bad combination never serves a request.
import type { Config } from '../runtime/config.ts';
import { createKernelLimits, type KernelLimits } from '../runtime/limits.ts';
import { type AnalysisLimits, createAnalysisLimits } from './analysis/limits.ts';
import { type AppLimits, appLimits } from './app/limits.ts';
import { type AudioLimits, createAudioLimits } from './audio/limits.ts';
import { type BlobLimits, blobLimits } from './blobs/limits.ts';
import {
  type CredentialLimits,
  credentialLimits,
  type KeyLimits,
  keyLimits,
} from './credentials/limits.ts';
import { createGenerationLimits, type GenerationLimits } from './generation/limits.ts';
import { createIdentityLimits, type IdentityLimits } from './identity/limits.ts';
import { createPasswordLimits, type PasswordLimits } from './identity/password-limits.ts';
import { type MailLimits, mailLimits } from './mail/limits.ts';
import { createMonitorLimits, type MonitorLimits } from './monitor/limits.ts';
import { createOAuthLimits, type OAuthLimits } from './oauth/limits.ts';
import { type PaymentLimits, paymentLimits } from './payments/limits.ts';
import { type PersonalDataLimits, personalDataLimits } from './personal-data/limits.ts';
import { type PromotionLimits, promotionLimits } from './promotions/limits.ts';
import { healthLimits } from './provider-health/limits.ts';
import { createQueryLimits, type QueryLimits } from './query/limits.ts';
import { type RewardLimits, rewardLimits } from './reward/limits.ts';
import { type UsageLimits, usageLimits } from './usage/limits.ts';
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
  readonly identity: IdentityLimits;
  readonly passwords: PasswordLimits;
  readonly monitor: MonitorLimits;
  readonly health: typeof healthLimits;
  readonly generation: GenerationLimits;
  readonly voice: VoiceLimits;
  readonly audio: AudioLimits;
  readonly query: QueryLimits;
  readonly blobs: BlobLimits;
  readonly analysis: AnalysisLimits;
  readonly videoInspection: VideoInspectionLimits;
  readonly video: VideoLimits;
  readonly oauth: OAuthLimits;
  readonly mail: MailLimits;
  readonly personalData: PersonalDataLimits;
  readonly app: AppLimits;
  readonly promotions: PromotionLimits;
  readonly reward: RewardLimits;
  readonly usage: UsageLimits;
  readonly payments: PaymentLimits;
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
    identity: createIdentityLimits(config),
    passwords: createPasswordLimits(config),
    monitor: createMonitorLimits(config),
    health: healthLimits,
    generation: createGenerationLimits(config, kernel, ledger),
    voice: createVoiceLimits(config, ledger),
    audio: createAudioLimits(kernel),
    query: createQueryLimits(ledger),
    blobs: blobLimits,
    analysis: createAnalysisLimits(config),
    videoInspection: createVideoInspectionLimits(),
    video: createVideoLimits(config),
    oauth: createOAuthLimits(config),
    mail: mailLimits,
    personalData: personalDataLimits,
    app: appLimits,
    promotions: promotionLimits,
    reward: rewardLimits,
    usage: usageLimits,
    payments: paymentLimits,
  };
}
