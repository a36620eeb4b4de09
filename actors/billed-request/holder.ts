// A billed request as a holder of funds: its row of generations begins and ends with its hold.
import type { ClaimRow, FinishRow, GenerationStatus } from '../../db/generations.ts';
import { generationRows } from '../../db/generations.ts';
import type { LeftHold } from '../../db/holds.ts';
import { plainProblem } from '../../runtime/problem.ts';
import type { Holder } from '../wallet/holder.ts';
import type { Claim, Finish } from '../wallet/protocol.ts';

/** Claims an idempotency key and makes the generation. */
export type GenerationClaim = Claim & {
  route: string;
  /** The caller's key, or null: a fresh generation that nobody can attach to by key. */
  idempotencyKey: string | null;
  /** Hex SHA-256 of the canonical body. */
  fingerprint: string;
  model: string;
};

/** Ends the generation; documents are stored as they are. */
export type GenerationFinish = Finish & {
  kind: 'generation';
  status: Exclude<GenerationStatus, 'running'>;
  /** The answer to be replayed, as JSON text; null when there is none. */
  answerJson: string | null;
  /** `svc_usage` as JSON text. */
  usageJson: string | null;
  /** The problem that ended it, as JSON text. */
  problemJson: string | null;
  /** `svc_routing` as JSON text, of a managed route. */
  routingJson?: string | null;
};

const recoveredMessage = 'The service stopped before the answer was complete. Nothing is charged.';

export const generationHolder: Holder = {
  rows: generationRows,

  claim(changes, given, { holdId, instanceId }) {
    const claim = given as GenerationClaim;
    const row: ClaimRow = {
      id: claim.id,
      accountId: claim.accountId,
      apiKeyId: claim.apiKeyId,
      route: claim.route,
      idempotencyKey: claim.idempotencyKey,
      fingerprint: claim.fingerprint,
      model: claim.model,
      instanceId,
      holdId,
    };
    changes.set('claims', claim.id, row);
  },

  finish(changes, id, given, { chargeMicros, late, reason }) {
    if (changes.has('finishes', id)) return;
    const finish = given as GenerationFinish | null;
    const row: FinishRow = {
      id,
      status: finish?.status ?? statusWithout(reason),
      answerJson: finish?.answerJson ?? null,
      usageJson: finish?.usageJson ?? null,
      problemJson: finish?.problemJson ?? null,
      routingJson: finish?.routingJson ?? null,
      chargeMicros,
      late,
    };
    changes.set('finishes', id, row);
  },

  endAlone({ holdId, ownerId }) {
    return {
      message: 'release',
      request: { holdId, reason: 'recovered', finish: ownerId === null ? null : failed(ownerId) },
    };
  },
};

/** The status of one that ends without a document. */
function statusWithout(reason: string | null): FinishRow['status'] {
  if (reason === null) return 'completed';
  return reason === 'cancelled' ? 'cancelled' : 'failed';
}

/** How a generation without its process ends; the problem says no more than a client may know. */
function failed(id: NonNullable<LeftHold['ownerId']>): GenerationFinish {
  return {
    kind: 'generation',
    id,
    status: 'failed',
    answerJson: null,
    usageJson: null,
    problemJson: JSON.stringify(plainProblem('internal', recoveredMessage)),
  };
}
