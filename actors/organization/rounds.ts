// The rounds that keep organizations, and how often each is due.
import { auditLimits } from '../audit/limits.ts';
import { domainLimits } from './domain-limits.ts';
import { organizationLimits } from './limits.ts';

const SECOND = 1_000;

export const organizationRounds = [
  { name: 'audit-retention', everySeconds: auditLimits.retentionRoundMs / SECOND },
  { name: 'domain-check', everySeconds: domainLimits.roundMs / SECOND },
  { name: 'audit-checkpoint', everySeconds: auditLimits.checkpointRoundMs / SECOND },
  { name: 'invitation-expiry', everySeconds: organizationLimits.expiryMs / SECOND },
] as const;
