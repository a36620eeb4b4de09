// An app's new session as it is told: the token is in this reply and nowhere else, ever.
import type { Person } from '../../../db/accounts/person.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import type { MadeSession } from '../../identity/sign-in.ts';
import { sessionBody, userBody } from '../../identity/view.ts';

export function appSessionReply(status: 200 | 201, person: Person, made: MadeSession): Reply {
  const { token, signedIn } = made;
  const session = { token, header_name: 'X-Svc-Session', ...sessionBody(signedIn) };
  const json = { ok: true, user: userBody(person), session };
  return { status, headers: { 'cache-control': 'no-store' }, json };
}
