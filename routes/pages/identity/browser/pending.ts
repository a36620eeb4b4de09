// The code that is waited for, kept while this tab lives: phones forget a page while its owner
// reads the mail. Neither codes nor sessions are in it.

export type Purpose = 'login' | 'signup';

export interface Pending {
  purpose: Purpose;
  email: string;
  challengeId: string;
  /** What was said about a new account. */
  person: Person;
  expiresAtMs: number;
  resendAtMs: number;
}

/** Members of the request that makes an account. */
export interface Person {
  full_name?: string;
  referral_code?: string;
  terms_accepted?: true;
}

const key = 'signing-in';

export function keep(pending: Pending): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(pending));
  } catch {
    // A browser that keeps nothing asks again after a reload.
  }
}

export function forget(): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // There is nothing to forget.
  }
}

/** What still waits for a code on this page. */
export function recall(purpose: Purpose, nowMs = Date.now()): Pending | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Pending | null;
    const isOpen = kept !== null && kept.expiresAtMs > nowMs && kept.purpose === purpose;
    return isOpen ? kept : null;
  } catch {
    return null;
  }
}
