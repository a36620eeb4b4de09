// What a person decides about: which app asks, on which account, for what, and what follows. Both
// pages on which apps are allowed show it in the same words.
import { element, make, setText } from './dom.ts';
import { durationText, limitText, scopeLines } from './scopes.ts';

export interface Client {
  id: string;
  display_name: string;
  host: string | null;
  first_party: boolean;
  verified: boolean;
}

export interface Person {
  id: string;
  email: string | null;
  full_name: string | null;
}

/** What the app is called: one that nobody has looked at may call itself anything. */
export function nameOf({ id, display_name, host, verified }: Client): string {
  return verified ? display_name : (host ?? id);
}

/** A mark for whom we know, and a warning for whom we do not. */
export function showClient(client: Client): void {
  const { id, display_name, host, first_party, verified } = client;
  setText(element('title', HTMLElement), `Allow ${nameOf(client)} to use your account?`);
  const mark = element('mark', HTMLElement);
  mark.dataset.kind = first_party ? 'own' : verified ? 'known' : 'unknown';
  if (first_party) setText(mark, 'Made by tollgate');
  else if (verified)
    setText(mark, host === null ? 'Registered with tollgate' : `Registered with tollgate: ${host}`);
  else setText(mark, 'Unknown to tollgate');
  const warning = element('warning', HTMLElement);
  warning.hidden = verified;
  if (verified) return;
  const claims = `It calls itself “${display_name}”. Nobody here has checked that.`;
  setText(warning, `${claims} Allow it only if you have just started this at ${host ?? id}.`);
}

export function showPerson({ id, email, full_name }: Person): void {
  const lines = [full_name, email, id].filter((line) => line !== null);
  setText(element('account-name', HTMLElement), lines[0] ?? '');
  setText(element('account-address', HTMLElement), lines[1] ?? '');
}

/** What it may do, for how long, and what else there is to know. */
export function showScopes(
  scopes: readonly string[],
  ...more: readonly (readonly [term: string, text: string])[]
): void {
  const lines = scopeLines(scopes).map((text) => make('li', { text }));
  const limit = make('li', { className: 'not', text: limitText(scopes) });
  element('scopes', HTMLElement).replaceChildren(...lines, limit);
  const facts = [['How long', durationText(scopes)] as const, ...more].map(([term, text]) =>
    make('div', {}, make('dt', { text: term }), make('dd', { text })),
  );
  element('outcome', HTMLElement).replaceChildren(...facts);
}
