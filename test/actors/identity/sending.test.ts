// How many codes are sent: by address, by network, and by places that the account knows. The bounds
// are those of production, and hours go by at once.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sendCode } from '../../../actors/identity/sending.ts';
import { findKnownPlaces } from '../../../db/accounts/known-places.ts';
import { Problem } from '../../../runtime/problem.ts';
import { type CodeStage, openStage } from './stage.ts';

let stage: CodeStage;
let count = 0;
before(async () => {
  stage = await openStage();
});
after(() => stage.close());
// What one test sent from a network is nothing to the next.
beforeEach(() => stage.pass(2 * 86_400));

function someone(): string {
  count += 1;
  return `person${count}@example.com`;
}

const network = (index: number) => `203.0.113.${index}`;

/** The seconds after which a refused request may be made again; null: it was not refused. */
async function refusedFor(asking: Promise<unknown>): Promise<number | null> {
  try {
    await asking;
    return null;
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'rate_limited', String(error));
    return Number(error.headers['retry-after']);
  }
}

/** A test takes a moment itself, and it goes by as well. */
function assertAbout(seconds: number | null, expected: number): void {
  assert.ok(seconds !== null, 'refused');
  assert.ok(seconds <= expected && seconds > expected - 10, `${seconds} of ${expected}`);
}

test('an address gets one code in a minute while one is open', async () => {
  const address = someone();
  const challengeId = await stage.ask(address);
  assertAbout(await refusedFor(stage.ask(address)), 60);
  assertAbout(await refusedFor(stage.ask(address, { network: network(9) })), 60);
  await stage.pass(20);
  assertAbout(await refusedFor(stage.ask(address, { challengeId })), 40);
  await stage.pass(40);
  assert.equal(await refusedFor(stage.ask(address)), null);
});

test('a code that was used makes the next one wait for nothing', async () => {
  const address = someone();
  const challengeId = await stage.ask(address);
  await stage.sql`UPDATE challenges SET used_at = now() WHERE id = ${challengeId}`;
  assert.equal(await refusedFor(stage.ask(address)), null);
});

test('an address gets 5 codes an hour from one network', async () => {
  const address = someone();
  for (let sent = 0; sent < 5; sent += 1) {
    await stage.ask(address);
    await stage.pass(61);
  }
  assertAbout(await refusedFor(stage.ask(address)), 3_600 - 5 * 61);
  assert.equal(await refusedFor(stage.ask(address, { network: network(1) })), null);
});

test('an address gets 10 codes an hour and 30 a day from whoever is new to it', async () => {
  const address = someone();
  let index = 0;
  const askNew = () => {
    index += 1;
    return stage.ask(address, { network: network(index) });
  };
  for (let hours = 0; hours < 3; hours += 1) {
    for (let sent = 0; sent < 10; sent += 1) {
      assert.equal(await refusedFor(askNew()), null, `hour ${hours}, code ${sent}`);
      await stage.pass(61);
    }
    if (hours < 2) assertAbout(await refusedFor(askNew()), 3_600 - 10 * 61);
    await stage.pass(3_000);
  }
  const seconds = await refusedFor(askNew());
  assert.ok(seconds !== null && seconds > 70_000, `${seconds}`);
});

test('many at once get no more than one after the other', async () => {
  const address = someone();
  const asked = Array.from({ length: 20 }, (_, index) =>
    refusedFor(stage.ask(address, { network: network(index) })),
  );
  const refusals = await Promise.all(asked);
  assert.equal(refusals.filter((seconds) => seconds === null).length, 1);
  const [row] = await stage.sql<{ sent: bigint }[]>`
    SELECT count(*) AS sent FROM codes WHERE address = ${address}`;
  assert.equal(row?.sent, 1n);
});

test('a network is sent 20 codes an hour, for whichever addresses', async () => {
  const from = network(200);
  const asked = Array.from({ length: 25 }, () =>
    refusedFor(stage.ask(someone(), { network: from })),
  );
  const refusals = await Promise.all(asked);
  assert.equal(refusals.filter((seconds) => seconds === null).length, 20);
  assert.equal(await refusedFor(stage.ask(someone())), null, 'another network');
});

test('a place that signed in has 5 an hour of its own, whatever strangers ask for', async () => {
  const address = someone();
  const home = '192.0.2.1';
  const browser = 'a browser';
  const known = stage.places(home, browser);
  await stage.owner(address, [known.network, known.browser ?? '']);
  for (let index = 0; index < 10; index += 1) {
    await stage.ask(address, { network: network(index) });
    await stage.pass(61);
  }
  await refusedFor(stage.ask(address, { network: network(50) }));
  // A stranger has just asked: the owner does not wait for that minute.
  for (let sent = 0; sent < 5; sent += 1) {
    const asking = stage.ask(address, { network: network(60), browser });
    assert.equal(await refusedFor(asking), null, `own code ${sent} of the browser`);
    const again = stage.ask(address, { network: network(60), browser });
    assert.notEqual(await refusedFor(again), null, 'its own minute');
    await stage.pass(61);
  }
  const spent = await refusedFor(stage.ask(address, { network: network(60), browser }));
  assert.ok(spent !== null && spent > 60);
  assert.equal(await refusedFor(stage.ask(address, { network: home })), null, 'the network');
});

test('a place is known for 180 days, and to nobody but the account', async () => {
  const [mine, other] = [someone(), someone()];
  const { network: place } = stage.places('192.0.2.7');
  const id = await stage.owner(mine, [place]);
  await stage.owner(other);
  await stage.ask(mine, { network: network(1) });
  await stage.ask(other, { network: network(1) });
  assert.equal(await refusedFor(stage.ask(mine, { network: '192.0.2.7' })), null);
  assert.notEqual(await refusedFor(stage.ask(other, { network: '192.0.2.7' })), null);
  await stage.pass(181 * 86_400);
  assert.equal((await findKnownPlaces(stage.sql, id, [place])).size, 0);
});

test('an address without account is told so once a day, and counted like any other', async () => {
  const address = someone();
  const mailFor = (hasOwner: boolean) => (hasOwner ? 'sign_in' : 'no_account') as 'sign_in';
  const mails = () => stage.postbox.filter(({ to }) => to === address).length;
  await stage.ask(address, { mailFor });
  assert.notEqual(await refusedFor(stage.ask(address, { mailFor })), null);
  for (let index = 1; index < 5; index += 1) {
    await stage.pass(61);
    await stage.ask(address, { mailFor });
  }
  assert.equal(mails(), 1);
  await stage.pass(61);
  assert.notEqual(await refusedFor(stage.ask(address, { mailFor })), null, 'the sixth');
  await stage.pass(86_400);
  await stage.ask(address, { mailFor });
  assert.equal(mails(), 2);
});

test('without mail nobody is sent a code, whoever it is', async () => {
  const { services } = stage;
  const mail = { ...services.mail, isAvailable: false };
  const address = someone();
  await stage.owner(address);
  for (const each of [address, someone()]) {
    const sending = sendCode(
      { ...services, mail },
      {
        address: each,
        aim: 'sign_in',
        accountId: null,
        challengeId: null,
        places: stage.places('192.0.2.9'),
        mailFor: () => 'sign_in',
      },
    );
    await assert.rejects(sending, { name: 'Problem', code: 'dependency_unavailable' });
  }
});
