// Piscina task: judges and hashes a new password, or checks one against its hash. The list of
// common passwords is loaded here, so that no shard has it.
import '../../runtime/work/background.ts';
import { hashPassword, verifyPassword } from '../password/hashing.ts';
import { loadCommonPasswords } from '../password/known-passwords.ts';
import { judgePassword, normalizePassword, type RuleFault } from '../password/rules.ts';

export type PasswordWork =
  | { act: 'make'; password: string; address: string }
  | { act: 'check'; password: string; hash: string | null };

export type MadePassword = { status: 'made'; hash: string } | { status: RuleFault };

export interface CheckedPassword {
  isRight: boolean;
  /** A new hash of a password that is right, where the stored one has other parameters. */
  rehashed: string | null;
}

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default async function passwordTask(
  work: PasswordWork,
): Promise<MadePassword | CheckedPassword> {
  if (work.act === 'check') return check(work.password, work.hash);
  const judged = judgePassword(work.password, work.address, await loadCommonPasswords());
  if (judged.status !== 'ok') return judged;
  return { status: 'made', hash: hashPassword(judged.normalized) };
}

function check(password: string, hash: string | null): CheckedPassword {
  const normalized = normalizePassword(password);
  const { isRight, isOld } = verifyPassword(normalized, hash);
  const isRehashed = isRight && isOld && normalized !== null;
  return { isRight, rehashed: isRehashed ? hashPassword(normalized) : null };
}
