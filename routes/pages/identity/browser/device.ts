// The page /oauth/device: the code that a device shows, what the device asks for, and the decision.
import { once, onSubmit } from './act.ts';
import { Armed } from './armed.ts';
import { type Client, nameOf, type Person, showClient, showPerson, showScopes } from './asking.ts';
import { call, type Refusal } from './call.ts';
import { deviceCode, isWholeDeviceCode } from './code.ts';
import { complain, element, setText, showStep } from './dom.ts';
import { Field } from './field.ts';
import { isElsewhere, needsSignIn, pageData, settled, signInFirst } from './page.ts';
import { agoText, networkText, refusalText } from './words.ts';

interface Asked {
  client: Client;
  scopes: string[];
  asked_at: string;
  network: string | null;
  is_other_network: boolean;
}

type Decision = 'approve' | 'deny';

const unknown = 'No device waits with this code. Look at it again: it is good for 15 minutes.';

class DevicePage {
  readonly #code = new Field('user-code');
  #name = '';

  constructor() {
    const { input } = this.#code;
    input.addEventListener('input', () => {
      const { text, caret } = deviceCode(input.value, input.selectionStart ?? input.value.length);
      if (input.value === text) return;
      input.value = text;
      input.setSelectionRange(caret, caret);
    });
    onSubmit(element('code-form', HTMLFormElement), () => this.#look());
    const step = element('ask-step', HTMLElement);
    const armed = new Armed();
    const bind = (id: string, act: () => Promise<void>) =>
      armed.onPress(element(id, HTMLButtonElement), () => void once(step, act));
    bind('approve', () => this.#decide('approve'));
    bind('deny', () => this.#decide('deny'));
    bind('switch', () => this.#switch());
    element('another', HTMLElement).addEventListener('click', () => this.askCode());
  }

  askCode(): void {
    this.#code.input.value = '';
    showStep('code-step', this.#code.input);
  }

  async #look(): Promise<void> {
    const user_code = this.#code.input.value;
    if (!isWholeDeviceCode(user_code)) {
      this.#code.fail('Type all eight letters. There are no vowels and no digits among them.');
      return;
    }
    const session = settled(await call<{ user?: Person }>('GET', '/api/auth/session'));
    if (session === null) return;
    if (session.user === undefined) return signInFirst();
    const outcome = await call<Asked>('POST', '/oauth/device', { user_code });
    if (!outcome.ok) return this.#tellUnknown(outcome.refusal);
    this.#show(outcome.body, session.user);
  }

  #show({ client, scopes, asked_at, network, is_other_network }: Asked, person: Person): void {
    this.#name = nameOf(client);
    const place = network === null ? 'an unknown network' : `the network ${networkText(network)}`;
    showClient(client);
    showPerson(person);
    showScopes(scopes, ['Asked', `${agoText(asked_at)}, from ${place}`]);
    const elsewhere = element('elsewhere', HTMLElement);
    elsewhere.hidden = !is_other_network;
    const warning = `The device is not in your network, but in ${place}.`;
    setText(elsewhere, `${warning} Deny it unless you see its code in front of you.`);
    showStep('ask-step', element('title', HTMLElement));
  }

  #tellUnknown(refusal: Refusal): void {
    if (needsSignIn(refusal)) return;
    const { status } = refusal;
    if (status === 400 || status === 404 || status === 409 || status === 410) {
      if (element('code-step', HTMLElement).hidden) this.askCode();
      this.#code.fail(unknown);
    } else complain(refusalText(refusal));
  }

  async #decide(decision: Decision): Promise<void> {
    const user_code = this.#code.input.value;
    const outcome = await call('POST', '/oauth/device', { user_code, decision });
    if (!outcome.ok) return this.#tellUnknown(outcome.refusal);
    const isApproved = decision === 'approve';
    const title = element('done-title', HTMLElement);
    setText(title, isApproved ? 'Your device is connected' : 'The device was denied');
    const text = isApproved
      ? `Go back to it: ${this.#name} goes on by itself. You can close this window.`
      : `${this.#name} gets nothing. You can close this window.`;
    setText(element('done-text', HTMLElement), text);
    showStep('done-step', title);
  }

  async #switch(): Promise<void> {
    if (settled(await call('POST', '/api/auth/logout')) !== null) signInFirst();
  }
}

const page = new DevicePage();
if (!isElsewhere(pageData().web)) page.askCode();
