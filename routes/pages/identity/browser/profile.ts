// The profile on the page of the account: name, address, and what else is known of the person.
import { onSubmit } from './act.ts';
import { call } from './call.ts';
import { announce, element, setText } from './dom.ts';
import { Field } from './field.ts';
import { settled } from './page.ts';
import { dateText } from './words.ts';

export interface User {
  id: string;
  email: string | null;
  email_verified: boolean;
  full_name: string | null;
  has_password: boolean;
  referral_code: string;
  created_at: string;
}

export class Profile {
  readonly #name = new Field('full_name');

  constructor() {
    onSubmit(element('name-form', HTMLFormElement), () => this.#rename());
  }

  show(user: User): void {
    this.#name.input.value = user.full_name ?? '';
    setText(element('address-text', HTMLElement), user.email ?? 'none');
    const state = element('address-state', HTMLElement);
    state.hidden = user.email === null;
    state.dataset.kind = user.email_verified ? 'good' : 'bad';
    setText(state, user.email_verified ? 'Verified' : 'Not verified');
    const password = user.has_password
      ? 'Set: apps can sign in with it. On pages a code is sent.'
      : 'None: a code is sent when you sign in.';
    setText(element('password-state', HTMLElement), password);
    setText(element('since', HTMLElement), dateText(user.created_at));
    setText(element('referral', HTMLElement), user.referral_code);
    setText(element('account-id', HTMLElement), user.id);
  }

  async #rename(): Promise<void> {
    const full_name = this.#name.value === '' ? null : this.#name.value;
    const outcome = await call<{ user: User }>('PATCH', '/api/me/account', { full_name });
    const body = settled(outcome, (text) => this.#name.fail(text));
    if (body === null) return;
    this.show(body.user);
    announce('Your name is saved.');
  }
}
