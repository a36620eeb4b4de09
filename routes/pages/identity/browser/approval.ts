// The approval page: what the server has checked is shown, and the decision sent back with it. The
// page itself goes where the answer leads, as a policy for forms would stop a redirect.
import { once } from './act.ts';
import { Armed } from './armed.ts';
import { type Client, nameOf, type Person, showClient, showPerson, showScopes } from './asking.ts';
import { call } from './call.ts';
import { complain, element, setText, showStep } from './dom.ts';
import { needsSignIn, pageData, signInFirst } from './page.ts';
import { type Redirect, redirectText } from './scopes.ts';
import { refusalText } from './words.ts';

interface ApprovalData {
  request: string;
  client: Client;
  scopes: string[];
  account: Person;
  redirect: Redirect;
}

type Decision = 'approve' | 'deny';

/** What a browser would run as a script of ours, or show as one of our pages. */
const neverOpened = /^(javascript|data|blob|file|about|view-source):/i;

const data = pageData<ApprovalData>();
const name = nameOf(data.client);

async function decide(decision: Decision): Promise<void> {
  const { request } = data;
  const body = { request, decision };
  const outcome = await call<{ redirect_to: string }>('POST', '/oauth/authorize/decision', body);
  if (outcome.ok) return leave(decision, outcome.body.redirect_to);
  const { refusal } = outcome;
  if (needsSignIn(refusal)) return;
  if (refusal.status === 400) showStep('over-step', element('over-title', HTMLElement));
  else complain(refusalText(refusal));
}

function leave(decision: Decision, redirectTo: string): void {
  if (!URL.canParse(redirectTo) || neverOpened.test(redirectTo)) {
    complain('The app named no place that can be opened.');
    return;
  }
  const { kind, shown } = data.redirect;
  const title = element('done-title', HTMLElement);
  setText(title, decision === 'approve' ? `${name} is connected` : `${name} was denied`);
  const next =
    kind === 'https'
      ? `You are being sent to ${shown}.`
      : `Go back to ${name}. You can close this window.`;
  setText(element('done-text', HTMLElement), next);
  const again = element('open-again', HTMLElement);
  // What it opens is in no link: nobody is to copy the code that it holds.
  again.hidden = kind !== 'private';
  again.addEventListener('click', () => location.assign(redirectTo));
  showStep('done-step', title);
  location.assign(redirectTo);
}

/** Who is signed in is so no more, and the request waits for who comes. */
async function switchAccount(): Promise<void> {
  const outcome = await call('POST', '/api/auth/logout');
  if (outcome.ok) signInFirst();
  else complain(refusalText(outcome.refusal));
}

const step = element('ask-step', HTMLElement);
const armed = new Armed();
const bind = (id: string, act: () => Promise<void>) =>
  armed.onPress(element(id, HTMLButtonElement), () => void once(step, act));

showClient(data.client);
showPerson(data.account);
showScopes(data.scopes, ['Your answer goes to', redirectText(data.redirect)]);
step.hidden = false;
bind('approve', () => decide('approve'));
bind('deny', () => decide('deny'));
bind('switch', switchAccount);
element('anew', HTMLElement).addEventListener('click', () => location.reload());
