// The page /account/invitations: which organizations wait for a person, and its answer to each.
import { once } from './act.ts';
import { call } from './call.ts';
import { confirmed } from './confirm.ts';
import { button, make, moment } from './dom.ts';
import { Listing } from './listing.ts';
import { settled } from './page.ts';
import { openShell } from './shell.ts';
import { agoText, momentText } from './words.ts';

type Role = 'owner' | 'admin' | 'billing' | 'manager' | 'member';

interface Invitation {
  id: string;
  organization_name: string;
  role: Role;
  created_at: string;
  expires_at: string;
}

const roles: Record<Role, string> = {
  owner: 'As an owner you may do everything there.',
  admin: 'As an admin you see to members, keys and settings.',
  billing: 'With the billing role you see to its money.',
  manager: 'As a manager you see to its members.',
  member: 'As a member you use what it offers.',
};

function draw(invitation: Invitation): HTMLElement {
  const { organization_name: name, role, created_at, expires_at } = invitation;
  const item = make(
    'li',
    { className: 'card' },
    make('h2', { text: name }),
    make('p', { text: roles[role] }),
    make(
      'p',
      { className: 'hint' },
      'Sent ',
      moment(created_at, agoText(created_at)),
      ', good until ',
      moment(expires_at, momentText(expires_at)),
    ),
  );
  const yes = button('Accept', () => void once(item, () => accept(invitation, item)), 'small firm');
  const no = button('Decline', () => void once(item, () => decline(invitation, item)));
  yes.setAttribute('aria-label', `Accept the invitation to ${name}`);
  no.setAttribute('aria-label', `Decline the invitation to ${name}`);
  item.append(make('div', { className: 'actions' }, yes, no));
  return item;
}

const listing = new Listing<Invitation>(
  '/api/me/invitations',
  'No organization waits for you. Invitations go to the address of your account.',
  (invitation) => draw(invitation),
);

async function accept({ id, organization_name: name }: Invitation, item: HTMLElement) {
  await answer(id, 'accept', item, `You are a member of ${name}.`, `The invitation to ${name}`);
}

async function decline({ id, organization_name: name }: Invitation, item: HTMLElement) {
  const isMeant = await confirmed({
    title: `Decline ${name}?`,
    text: 'Only another invitation lets you in after that.',
    yes: 'Decline it',
    no: 'Keep it',
  });
  if (!isMeant) return;
  await answer(id, 'decline', item, `${name} is declined.`, `The invitation to ${name}`);
}

async function answer(
  id: string,
  verb: 'accept' | 'decline',
  item: HTMLElement,
  done: string,
  what: string,
): Promise<void> {
  const outcome = await call('POST', `/api/me/invitations/${id}/${verb}`);
  const isOver =
    !outcome.ok &&
    (outcome.refusal.status === 404 || outcome.refusal.reason === 'invitation_status');
  if (isOver) listing.remove(item, `${what} is over.`);
  else if (settled(outcome) !== null) listing.remove(item, done);
}

if (openShell()) await listing.open();
