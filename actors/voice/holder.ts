// A voice session as a holder of funds: its row begins and ends with its hold. Its usage is noted
// in between, so that it can be charged without its process.
import type { LeftHold } from '../../db/holds.ts';
import {
  readUsage,
  type SessionCheckpoint,
  type SessionClaimRow,
  type SessionFinishRow,
  type SessionUsage,
  type UsageRow,
  voiceSessionRows,
} from '../../db/voice/sessions.ts';
import type { Holder } from '../wallet/holder.ts';
import type { Checkpoint, Claim, Finish } from '../wallet/protocol.ts';

/** Makes the row of a voice session. */
export type SessionClaim = Claim & { model: string; voiceId: string };

/** Ends the voice session. */
export type SessionFinish = Finish & {
  kind: 'voice_session';
  reason: string;
  source: 'reported' | 'estimated' | 'none';
  /** Null: as it was last written. */
  usage: SessionUsage | null;
};

/** What a live session has used. */
export type SessionDue = Checkpoint & SessionCheckpoint;

export const voiceSessionHolder: Holder = {
  rows: voiceSessionRows,

  claim(changes, given, { holdId, instanceId }) {
    const { id, accountId, apiKeyId, model, voiceId } = given as SessionClaim;
    const row: SessionClaimRow = { id, accountId, apiKeyId, model, voiceId, instanceId, holdId };
    changes.set('session_claims', id, row);
  },

  note(changes, checkpoint) {
    changes.set('session_dues', checkpoint.id, checkpoint);
  },

  finish(changes, id, given, { chargeMicros, late }) {
    if (changes.has('session_finishes', id)) return;
    const finish = given as SessionFinish | null;
    // A statement updates a row once.
    changes.delete('session_dues', id);
    const row: SessionFinishRow = {
      id,
      reason: finish?.reason ?? 'recovered',
      source: finish?.source ?? (chargeMicros === null ? 'none' : 'reported'),
      usage: finish?.usage ?? null,
      chargeMicros,
      late,
    };
    changes.set('session_finishes', id, row);
  },

  /** What it had used is charged, no more: one that lives may have written more since. */
  endAlone({ holdId, ownerId, left }) {
    const { dueMicros, dueProviderMicros, usage } = readDue(left);
    const finish =
      ownerId === null ? null : { kind: 'voice_session', id: ownerId, reason: 'recovered', usage };
    if (finish === null || dueMicros === 0n) {
      const released = finish === null ? null : { ...finish, source: 'none' };
      return { message: 'release', request: { holdId, reason: 'recovered', finish: released } };
    }
    return {
      message: 'settle',
      request: {
        holdId,
        chargeMicros: dueMicros,
        providerCostMicros: dueProviderMicros,
        finish: { ...finish, source: 'reported' },
      },
    };
  },
};

interface Due {
  dueMicros: bigint;
  dueProviderMicros: bigint;
  /** What that is due for. */
  usage: SessionUsage | null;
}

/** What a session had used when that was last written. */
function readDue(left: LeftHold['left']): Due {
  const row = left as UsageRow & Record<'due_micros' | 'due_provider_micros', bigint | null>;
  return {
    dueMicros: row.due_micros ?? 0n,
    dueProviderMicros: row.due_provider_micros ?? 0n,
    usage: readUsage(row),
  };
}
