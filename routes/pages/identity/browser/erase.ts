// The end of an account: meant by typing its address, and undone by signing in within 14 days.
import { onClick, onSubmit } from './act.ts';
import { call, type Refusal } from './call.ts';
import { element, make, setText } from './dom.ts';
import { Field } from './field.ts';
import { needsSignIn } from './page.ts';
import { refusalText } from './words.ts';

export interface Around {
  isFresh(): Promise<boolean>;
  /** The address of the account, as it is at this moment. */
  address(): string;
}

export class Erase {
  readonly #around: Around;
  readonly #dialog = element('delete-dialog', HTMLDialogElement);
  readonly #confirm = new Field('delete-confirm');

  constructor(around: Around) {
    this.#around = around;
    onClick(element('delete', HTMLElement), () => this.#open());
    onSubmit(element('delete-form', HTMLFormElement), () => this.#erase());
    element('delete-cancel', HTMLElement).addEventListener('click', () => this.#dialog.close());
  }

  async #open(): Promise<void> {
    if (!(await this.#around.isFresh())) return;
    setText(element('delete-address', HTMLElement), this.#around.address());
    this.#confirm.input.value = '';
    this.#confirm.clear();
    this.#dialog.showModal();
    this.#confirm.input.focus();
  }

  async #erase(): Promise<void> {
    const address = this.#around.address();
    if (this.#confirm.value.toLowerCase() !== address.toLowerCase()) {
      this.#confirm.fail('This is not the address of the account.');
      return;
    }
    const outcome = await call('DELETE', '/api/me/account', { confirm: address });
    if (!outcome.ok) return this.#tell(outcome.refusal);
    this.#dialog.close();
    showEnd();
  }

  #tell(refusal: Refusal): void {
    if (!needsSignIn(refusal)) this.#confirm.fail(refusalText(refusal));
  }
}

/** Nothing of the page works any more: the session has ended with the account. */
function showEnd(): void {
  const title = make('h1', { text: 'Your account is being deleted' });
  title.tabIndex = -1;
  const text = 'You are signed out everywhere. Within 14 days you can have it back: sign in again.';
  const back = make('a', { text: 'Sign in', className: 'small' });
  back.href = '/signin';
  const actions = make('div', { className: 'actions' }, back);
  element('main', HTMLElement).replaceChildren(
    make('section', { className: 'card narrow' }, title, make('p', { text }), actions),
  );
  document.querySelector('header nav')?.remove();
  element('sign-out', HTMLElement).remove();
  document.title = 'Your account is being deleted · tollgate';
  title.focus();
}
