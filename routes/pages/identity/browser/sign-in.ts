// The pages /signin and /signup: an address, the code that was sent there, and what a new account
// needs. Both are one page, so that nothing is typed twice by who took the wrong one.
import { onClick, onSubmit } from './act.ts';
import { call, type Refusal } from './call.ts';
import { digitsOf, isWholeCode } from './code.ts';
import { Countdown } from './countdown.ts';
import { announce, complain, element, setText, showStep } from './dom.ts';
import { Field, looksLikeAddress } from './field.ts';
import { isElsewhere, pageData } from './page.ts';
import { forget, keep, type Pending, type Purpose, recall } from './pending.ts';
import { PersonFields } from './person-fields.ts';
import { returnPath } from './return-to.ts';
import { refusalText } from './words.ts';

interface Requested {
  challenge_id: string;
  expires_in: number;
  resend_in: number;
}

const wrongCode = 'This code is wrong, or no longer good. Look at the newest mail.';

const tooManyCodes = 'Too many wrong codes. Send a new one, or come back in ten minutes.';

const invitations = {
  open: '',
  invited: 'Accounts are made here for invited people: use the address that was invited.',
  closed: 'New accounts are not made here at the moment.',
} as const;

const asked = new URLSearchParams(location.search);
const target = returnPath(asked.get('return_to'));
const data = pageData();

class SignIn {
  readonly #email = new Field('email');
  readonly #code = new Field('code');
  readonly #person = new PersonFields(data.terms_url);
  readonly #resend = new Countdown(element('resend', HTMLButtonElement));
  #purpose: Purpose = 'login';
  #pending: Pending | null = null;

  constructor() {
    onSubmit(element('address-form', HTMLFormElement), () => this.#start());
    onSubmit(element('code-form', HTMLFormElement), () => this.#verify());
    onClick(element('resend', HTMLElement), () => this.#send(this.#pending?.email ?? '', true));
    onClick(element('sign-up', HTMLElement), async () => this.#turn('signup'));
    onClick(element('change', HTMLElement), async () => this.#askAddress());
    onClick(element('restore', HTMLElement), () => this.#verify({ restore: true }));
    onClick(element('leave', HTMLElement), async () => this.#askAddress());
    const { input } = this.#code;
    input.addEventListener('input', () => {
      const digits = digitsOf(input.value);
      if (input.value !== digits) input.value = digits;
    });
  }

  /** What the page is for: its words follow from it. */
  take(purpose: Purpose): void {
    this.#purpose = purpose;
    const isAgain = purpose === 'login' && asked.get('reauthenticate') === '1';
    document.body.dataset.purpose = isAgain ? 'again' : purpose;
    setText(element('invited', HTMLElement), invitations[data.signup]);
  }

  /** Where a code was sent before the page was loaded anew, it is waited for. */
  async open(): Promise<void> {
    const pending = recall(this.#purpose);
    this.#email.input.value = pending?.email ?? hintOf(target);
    if (pending !== null) {
      this.#person.fill(pending.person);
      this.#askCode(pending);
      return;
    }
    // Whoever was brought by somebody came by a link that says so.
    const code = asked.get('referral_code');
    if (code !== null) this.#person.fill({ referral_code: code });
    this.#email.input.focus();
    if (document.body.dataset.purpose === 'again') await this.#knowAddress();
  }

  /** The other page, with what was typed on this one. */
  #turn(purpose: Purpose): void {
    const path = purpose === 'login' ? '/signin' : '/signup';
    history.replaceState(null, '', `${path}${location.search}`);
    this.take(purpose);
    this.#askAddress();
  }

  bindTurn(link: HTMLAnchorElement, purpose: Purpose): void {
    link.href += location.search;
    link.addEventListener('click', (event) => {
      event.preventDefault();
      this.#turn(purpose);
    });
  }

  /** Who has to prove itself anew need not type its address. */
  async #knowAddress(): Promise<void> {
    type Signed = { user?: { email: string | null } };
    const outcome = await call<Signed>('GET', '/api/auth/session');
    const known = outcome.ok ? outcome.body.user?.email : undefined;
    if (this.#email.value === '') this.#email.input.value = known ?? '';
  }

  #askAddress(): void {
    forget();
    this.#pending = null;
    this.#person.return();
    this.#code.clear();
    this.#code.input.value = '';
    complain('');
    showStep('address-step', this.#email.input);
  }

  async #start(): Promise<void> {
    const { value } = this.#email;
    if (!looksLikeAddress(value)) {
      this.#email.fail('Type your whole address, such as ann@example.com.');
      return;
    }
    if (this.#purpose === 'signup' && !this.#person.check()) return;
    await this.#send(value, false);
  }

  async #send(email: string, isAgain: boolean): Promise<void> {
    const purpose = this.#purpose;
    const outcome = await call<Requested>('POST', '/api/auth/otp/request', { email, purpose });
    if (!outcome.ok) return this.#tellUnsent(outcome.refusal, isAgain);
    const { challenge_id, expires_in, resend_in } = outcome.body;
    const nowMs = Date.now();
    const pending: Pending = {
      purpose,
      email,
      challengeId: challenge_id,
      person: this.#person.read(),
      expiresAtMs: nowMs + expires_in * 1_000,
      resendAtMs: nowMs + resend_in * 1_000,
    };
    keep(pending);
    this.#askCode(pending);
    announce(isAgain ? `A new code was sent to ${email}.` : `A code was sent to ${email}.`);
  }

  #tellUnsent(refusal: Refusal, isAgain: boolean): void {
    const { code, reason, retryAfter } = refusal;
    if (code === 'rate_limited' && retryAfter !== null) {
      this.#resend.until(Date.now() + retryAfter * 1_000);
    }
    if (code === 'dependency_unavailable') {
      complain('No mail can be sent at the moment. Try again later.');
    } else if (isAgain || (code !== 'invalid_request' && reason !== 'signup_closed')) {
      complain(refusalText(refusal));
    } else if (code === 'invalid_request') this.#email.fail('This is no address of mail.');
    else this.#email.fail(refusalText(refusal));
  }

  #askCode(pending: Pending): void {
    this.#pending = pending;
    setText(element('sent-to', HTMLElement), pending.email);
    this.#resend.until(pending.resendAtMs);
    showStep('code-step', this.#code.input);
  }

  async #verify({ restore = false } = {}): Promise<void> {
    const pending = this.#pending;
    const code = digitsOf(this.#code.input.value);
    if (pending === null) return this.#askAddress();
    if (!isWholeCode(code)) {
      this.#code.fail('Type all six digits of the code.');
      return;
    }
    const outcome = await call('POST', '/api/auth/otp/verify', {
      email: pending.email,
      code,
      purpose: pending.purpose,
      challenge_id: pending.challengeId,
      ...this.#person.read(),
      ...(restore ? { restore } : {}),
    });
    if (!outcome.ok) return this.#tellRefused(outcome.refusal);
    forget();
    announce('You are signed in.');
    location.replace(target);
  }

  #tellRefused(refusal: Refusal): void {
    const { status, reason, path } = refusal;
    if (reason === 'deleting') {
      showStep('restore-step', element('restore-title', HTMLElement));
    } else if (status === 400 && this.#person.lack(path)) {
      announce('The code is right. One thing is missing.');
    } else {
      if (element('code-step', HTMLElement).hidden) showStep('code-step', this.#code.input);
      if (status === 401 || status === 400) this.#code.fail(wrongCode);
      else if (status === 429) this.#code.fail(tooManyCodes);
      else complain(refusalText(refusal));
    }
  }
}

/** The address that an app knows of who is to sign in for it. */
function hintOf(path: string): string {
  const hint = new URL(path, location.origin).searchParams.get('login_hint') ?? '';
  return looksLikeAddress(hint) ? hint : '';
}

const signIn = new SignIn();
signIn.take(location.pathname === '/signup' ? 'signup' : 'login');
signIn.bindTurn(element('to-signup', HTMLAnchorElement), 'signup');
signIn.bindTurn(element('to-login', HTMLAnchorElement), 'login');
if (data.mailbox !== null) element('mailbox', HTMLElement).hidden = false;
if (!isElsewhere(data.web)) await signIn.open();
