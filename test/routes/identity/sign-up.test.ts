// Who may have a new account where not everybody may. It is told behind a right code alone. Where
// there is no code, it is told before anything is looked up.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  defaultIdentitySettings,
  type IdentitySettings,
} from '../../../actors/identity/settings.ts';
import { register } from '../../../routes/app/auth/register.ts';
import { enterByCode } from '../../../routes/identity/enter.ts';
import { Problem } from '../../../runtime/problem.ts';
import { type CodeStage, openStage, wrongCode } from '../../actors/identity/stage.ts';

let stage: CodeStage;
before(async () => {
  stage = await openStage();
});
after(() => stage.close());

type Services = Parameters<typeof enterByCode>[0];

function servicesWith(settings: Partial<IdentitySettings>): Services {
  const identity = { ...defaultIdentitySettings, ...settings };
  return {
    ...stage.services,
    catalog: { current: () => ({ snapshot: { identity } }) },
    bus: { publish: async () => undefined },
  } as unknown as Services;
}

function enter(services: Services, address: string, code: string) {
  return enterByCode(services, {
    address,
    code,
    challengeId: null,
    mayCreate: true,
    fullName: 'A Person',
    termsAccepted: true,
    referralCode: null,
    restore: false,
    asker: {
      client: { userAgent: null, network: null },
      cookies: { session: null, challenge: null, browser: null },
      network: '192.0.2.1',
      places: stage.places('192.0.2.1'),
    },
  });
}

async function reasonOf(entering: Promise<unknown>): Promise<unknown> {
  try {
    await entering;
    return null;
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error.details?.reason;
  }
}

test('a new address is told that sign-up is closed by a right code, which stays good', async () => {
  const settings: Partial<IdentitySettings>[] = [
    { signup: 'closed' },
    { signup: 'invited' },
    { emailDomains: ['example.org'] },
  ];
  for (const [index, setting] of settings.entries()) {
    const address = `closed${index}@example.com`;
    const services = servicesWith(setting);
    await stage.ask(address, { network: `203.0.113.${index}` });
    const code = stage.codeTo(address);
    assert.equal(await reasonOf(enter(services, address, wrongCode(code))), 'invalid_code');
    assert.equal(await reasonOf(enter(services, address, code)), 'signup_closed');
    const entered = await enter(servicesWith({}), address, code);
    assert.equal(entered.isCreated, true);
    await stage.pass(61);
    await stage.ask(address);
    const again = await enter(services, address, stage.codeTo(address));
    assert.equal(again.isCreated, false, 'who has an account enters it');
  }
});

test('two that sign up with one address at once are one account', async () => {
  const address = 'twins@example.com';
  const services = servicesWith({});
  const first = await stage.ask(address);
  await stage.pass(61);
  await stage.ask(address, { challengeId: null, network: '203.0.113.77' });
  assert.ok(first !== '');
  const [newer, older] = stage.postbox
    .filter(({ to }) => to === address)
    .map(({ mail }) => (mail.template === 'code' ? mail.code : ''))
    .reverse();
  const entered = await Promise.all([
    enter(services, address, newer ?? ''),
    enter(services, address, older ?? ''),
  ]);
  assert.equal(new Set(entered.map(({ person }) => person.id)).size, 1);
  assert.deepEqual(entered.map(({ isCreated }) => isCreated).sort(), [false, true]);
});

test('registering where not everybody may is refused before anything is looked up', async () => {
  const untouched = new Proxy(() => undefined, {
    apply: () => assert.fail('the database was asked'),
    get: () => assert.fail('the database was asked'),
  });
  for (const setting of [
    { signup: 'closed' },
    { signup: 'invited' },
    { emailDomains: ['example.org'] },
  ] as const) {
    const services = { ...servicesWith(setting), sql: untouched, access: untouched };
    const exchange = { header: () => undefined, clientAddress: '192.0.2.1' };
    const body = { email: 'p@example.com', password: 'violet tractor seven' };
    const input = { body, exchange, services } as never;
    assert.equal(await reasonOf(Promise.resolve(register.handle(input))), 'signup_closed');
  }
});
