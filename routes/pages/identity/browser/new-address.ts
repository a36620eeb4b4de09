// Another address: asked for, and proved by the code that was sent there.
import { onClick, onSubmit } from './act.ts';
import { call, type Refusal } from './call.ts';
import { digitsOf, isWholeCode } from './code.ts';
import { announce, complain, element, setText } from './dom.ts';
import { Field, looksLikeAddress } from './field.ts';
import { needsSignIn } from './page.ts';
import type { User } from './profile.ts';
import { refusalText } from './words.ts';

/** What the page does around it. */
export interface Around {
  /** Whether the person may change it now; else it signs in again first. */
  isFresh(): Promise<boolean>;
  changed(user: User): void;
}

type Step = 'new-address-form' | 'address-code-form' | null;

export class NewAddress {
  readonly #around: Around;
  readonly #address = new Field('new-address');
  readonly #code = new Field('address-code');
  readonly #opener = element('change-address', HTMLButtonElement);

  constructor(around: Around) {
    this.#around = around;
    onClick(this.#opener, () => this.#open());
    onSubmit(element('new-address-form', HTMLFormElement), () => this.#send());
    onSubmit(element('address-code-form', HTMLFormElement), () => this.#verify());
    for (const cancel of document.querySelectorAll('form .cancel')) {
      cancel.addEventListener('click', () => this.#show(null));
    }
  }

  async #open(): Promise<void> {
    if (await this.#around.isFresh()) this.#show('new-address-form');
  }

  #show(step: Step): void {
    for (const id of ['new-address-form', 'address-code-form']) {
      element(id, HTMLElement).hidden = id !== step;
    }
    this.#opener.hidden = step !== null;
    this.#address.clear();
    this.#code.clear();
    this.#code.input.value = '';
    complain('');
    if (step === null) this.#opener.focus();
    else (step === 'new-address-form' ? this.#address : this.#code).input.focus();
  }

  async #send(): Promise<void> {
    const email = this.#address.value;
    if (!looksLikeAddress(email)) {
      this.#address.fail('Type the whole address, such as ann@example.com.');
      return;
    }
    const outcome = await call('POST', '/api/me/account/email', { email });
    if (!outcome.ok) return this.#tell(this.#address, outcome.refusal);
    setText(element('address-sent-to', HTMLElement), email);
    this.#show('address-code-form');
    announce(`A code was sent to ${email}.`);
  }

  async #verify(): Promise<void> {
    const code = digitsOf(this.#code.input.value);
    if (!isWholeCode(code)) {
      this.#code.fail('Type all six digits of the code.');
      return;
    }
    type Changed = { user: User };
    const outcome = await call<Changed>('POST', '/api/me/account/email/verify', { code });
    if (!outcome.ok) return this.#tell(this.#code, outcome.refusal);
    this.#address.input.value = '';
    this.#show(null);
    this.#around.changed(outcome.body.user);
    announce('Your address is changed.');
  }

  #tell(field: Field, refusal: Refusal): void {
    if (refusal.reason === 'invalid_code') {
      this.#code.fail('This code is wrong, or no longer good. Look at the newest mail.');
    } else if (refusal.status === 409) {
      this.#show('new-address-form');
      this.#address.fail('Another account has this address.');
    } else if (!needsSignIn(refusal)) field.fail(refusalText(refusal));
  }
}
