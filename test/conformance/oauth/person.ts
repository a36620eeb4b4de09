// The person's side of an authorization: a browser that is signed in, by HTTP alone. It goes where
// an app sends it, decides on the page, and is sent back.
import assert from 'node:assert/strict';
import { Contract } from '../../harness/contract.ts';
import { makeSession } from '../../harness/sign-in.ts';
import type { Testbed } from '../../harness/testbed.ts';
import { Browser, pageData } from '../../routes/oauth/front.ts';

export type Decision = 'approve' | 'deny';

export interface Person {
  accountId: string;
  email: string;
  /** The token in the cookie of its browser. */
  session: string;
  /** Opens what an app asks for and decides; where its browser is sent then. */
  decide(asked: URL, decision?: Decision): Promise<URL>;
  /** Opens what it has approved before; where its browser is sent without a page. */
  pass(asked: URL): Promise<URL>;
  /** Types the code that a device shows, looks, and decides. */
  decideDevice(userCode: string, decision?: Decision): Promise<void>;
}

/** A new account with an address and a name, and its browser. */
export async function makePerson(bed: Testbed): Promise<Person> {
  const { accountId } = await bed.account();
  const email = `${accountId.toLowerCase()}@example.com`;
  await bed.sql`
    UPDATE accounts SET email = ${email}, email_owned = true, email_verified_at = now(),
      full_name = 'Ada Example' WHERE id = ${accountId}`;
  const session = await makeSession(bed.sql, accountId, 'browser');
  const browser = new Browser(bed, await Contract.load(bed.url), session);
  const open = async (asked: URL, status: number) => {
    assert.equal(asked.origin, bed.url);
    const answer = await browser.get(asked.pathname + asked.search);
    assert.equal(answer.status, status, answer.location ?? answer.text);
    return answer;
  };
  return {
    accountId,
    email,
    session,
    async decide(asked, decision = 'approve') {
      const { text } = await open(asked, 200);
      const reply = await browser.decide(pageData(text).request, decision);
      assert.equal(reply.status, 200, reply.text);
      return new URL(String(reply.json.redirect_to));
    },
    pass: async (asked) => new URL((await open(asked, 303)).location ?? ''),
    async decideDevice(userCode, decision = 'approve') {
      const shown = await browser.post('/oauth/device', { user_code: userCode });
      assert.equal(shown.status, 200, shown.text);
      const reply = await browser.post('/oauth/device', { user_code: userCode, decision });
      assert.deepEqual(reply.json, { ok: true, decision });
    },
  };
}
