// What came of an attempt, read from what nodemailer says of it. A mail that was handed over whole
// and got no reply is in doubt: the server may have it (RFC 5321, 4.5.3.2.6 and 6.1).

/** An error is a class, with a status of SMTP where there is one; never a text of the server. */
export type Outcome =
  | { kind: 'sent' }
  /** It may work later. `isInDoubt`: it may have worked already. */
  | { kind: 'deferred'; error: string; isInDoubt: boolean }
  | { kind: 'refused'; error: string }
  /** We called it off before the server could have taken anything. */
  | { kind: 'stopped' };

/** The members that are read of an error of nodemailer. */
interface SmtpError {
  code?: unknown;
  responseCode?: unknown;
  response?: unknown;
  command?: unknown;
  message?: unknown;
}

/** A first reply line with an enhanced status (RFC 3463). */
const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})(?: |$)/;

const classes: Record<string, string> = {
  EDNS: 'unreachable',
  ESOCKET: 'unreachable',
  ECONNECTION: 'lost',
  EPROXY: 'unreachable',
  ETIMEDOUT: 'timeout',
  EABORT: 'timeout',
  ETLS: 'tls',
  EREQUIRETLS: 'tls',
  EAUTH: 'login',
  ENOAUTH: 'login',
  EOAUTH2: 'login',
  EPROTOCOL: 'protocol',
};

/** What nodemailer refuses by itself, before any server sees it. */
const ownRefusals = new Set(['EENVELOPE', 'EMESSAGE', 'EMAXRECIPIENTS', 'ECONFIG']);

/** @param isHandedOver all of the mail was written to the server. */
export function outcomeOf(thrown: unknown, isHandedOver: boolean): Outcome {
  const error = (thrown ?? {}) as SmtpError;
  // A server that will not encrypt says so with a status, but not of the mail.
  const status = error.code === 'ETLS' ? null : statusOf(error);
  if (status !== null) {
    const text = `${status.login ? 'login ' : ''}${status.text}`;
    if (status.code >= 500) return { kind: 'refused', error: `refused ${text}` };
    return { kind: 'deferred', error: `deferred ${text}`, isInDoubt: false };
  }
  if (isHandedOver) return { kind: 'deferred', error: 'unanswered', isInDoubt: true };
  const code = typeof error.code === 'string' ? error.code : '';
  if (ownRefusals.has(code)) return { kind: 'refused', error: 'malformed' };
  const isTls = /certificate|\b(?:TLS|SSL)\b/i.test(String(error.message ?? ''));
  const known = isTls ? 'tls' : (classes[code] ?? 'failed');
  return { kind: 'deferred', error: known, isInDoubt: false };
}

function statusOf({ responseCode, response, command }: SmtpError) {
  const code = typeof responseCode === 'number' ? responseCode : 0;
  if (code < 400 || code > 599) return null;
  const more = typeof response === 'string' ? (enhanced.exec(response)?.[1] ?? null) : null;
  const login = typeof command === 'string' && command.startsWith('AUTH');
  return { code, text: more === null ? String(code) : `${code} ${more}`, login };
}

const sentences: Record<string, string> = {
  unreachable: 'The mail server cannot be reached.',
  lost: 'The mail server closed the connection.',
  timeout: 'The mail server did not answer in time.',
  tls: 'The connection to the mail server cannot be encrypted.',
  login: 'The mail server does not let us in.',
  protocol: 'What answers is no mail server.',
  malformed: 'The mail cannot be sent to such an address.',
  unanswered: 'The mail server took a mail and did not say whether it keeps it.',
  crashed: 'A process ended while it sent a mail.',
  expired: 'A mail expired before it could be sent.',
  unreadable: 'A mail is sealed under a key that is gone.',
  failed: 'The mail could not be sent.',
};

/** What an administrator is told of an error. */
export function describeMailError(error: string): string {
  const [, kind, isLogin, status] = /^(refused|deferred) (login )?(.+)$/.exec(error) ?? [];
  if (kind === undefined) return sentences[error] ?? 'The mail could not be sent.';
  if (isLogin !== undefined) return `The mail server does not let us in (${status}).`;
  if (kind === 'refused') return `The mail server refused the mail (${status}).`;
  return `The mail server asked for another try later (${status}).`;
}
