// Every page of identity in the states that people meet. axe finds nothing in either scheme, and
// nothing is wider than a small screen, with text twice as large.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { noChromium } from '../../../harness/chromium.ts';
import {
  type Answers,
  broken,
  IdentityBench,
  type Opened,
  oauthRefusal,
  overflow,
  refusal,
  user,
  waitMs,
} from './bench.ts';
import {
  approvalOf,
  apps,
  askedBy,
  authorizations,
  invitations,
  listed,
  session,
  sessions,
} from './samples.ts';

// slow: A browser draws 18 states of pages, and axe looks at each of them three times.

const skip = noChromium;
let bench: IdentityBench;
before(async () => {
  const started = await IdentityBench.start();
  if (started !== null) bench = started;
});
after(() => bench?.close());

const requested = { json: { ok: true, challenge_id: 'otp_1', expires_in: 600, resend_in: 60 } };
const request = 'POST /api/auth/otp/request';
const verify = 'POST /api/auth/otp/verify';
const known: Answers = {
  'GET /api/me/account': { json: { ok: true, user } },
  'GET /api/auth/session': session(),
};

async function shown(opened: Opened, selector: string): Promise<Opened> {
  await opened.page.locator(`${selector}:visible`).first().waitFor({ timeout: waitMs });
  return opened;
}

async function fill(page: Page, id: string, text: string): Promise<void> {
  await page.fill(`#${id}`, text);
  await page.keyboard.press('Enter');
}

/** Signing in up to what the server says of the code. */
async function refusedCode(details: Record<string, unknown>, status: number): Promise<Opened> {
  const answers = { [request]: requested, [verify]: refusal(status, 'forbidden', details) };
  const opened = await bench.open('/signin', { answers });
  await fill(opened.page, 'email', 'ann@example.com');
  await shown(opened, '#code-step');
  await fill(opened.page, 'code', '123456');
  return opened;
}

async function deviceWith(answer: Answers[string]): Promise<Opened> {
  const answers = { ...known, 'POST /oauth/device': answer };
  const opened = await bench.open('/oauth/device', { signedIn: true, answers });
  await shown(opened, '#code-step');
  await fill(opened.page, 'user-code', 'BCDFGHJK');
  return opened;
}

async function accountAfter(id: string): Promise<Opened> {
  const opened = await bench.open('/account', { signedIn: true, answers: known });
  await shown(opened, 'body[data-phase="ready"]');
  await opened.page.locator(`#${id}`).press('Enter');
  return opened;
}

const scopes = ['profile', 'email', 'app', 'offline_access'];
const states: Record<string, () => Promise<Opened>> = {
  'sign in': async () => shown(await bench.open('/signin'), '#address-step'),
  'sign up': async () => shown(await bench.open('/signup'), '#person'),
  'a wrong code': async () =>
    shown(await refusedCode({ reason: 'invalid_code' }, 401), '#code-error:not(:empty)'),
  'missing terms': async () =>
    shown(await refusedCode({ path: 'terms_accepted' }, 400), '#terms_accepted'),
  'an account that ends': async () =>
    shown(await refusedCode({ reason: 'deleting' }, 403), '#restore-step'),
  'approval of our own app': () =>
    bench.openApproval(approvalOf(apps.own, scopes, 'loopback', '127.0.0.1:4711')),
  'approval of an unknown app': () =>
    bench.openApproval(approvalOf(apps.unknown, ['app'], 'https', 'notes.example')),
  'approval over': async () => {
    const data = approvalOf(apps.partner, ['email'], 'private', 'partner-studio:');
    const answers = { 'POST /oauth/authorize/decision': oauthRefusal(400, 'invalid_request') };
    const opened = await bench.openApproval(data, { answers });
    await opened.page.locator('#approve').press('Enter');
    return shown(opened, '#over-step');
  },
  'device, code': async () =>
    shown(await deviceWith(oauthRefusal(400, 'invalid_request')), '#user-code-error:not(:empty)'),
  'device, request': async () =>
    shown(await deviceWith(askedBy(apps.own, { is_other_network: true })), '#elsewhere'),
  account: async () =>
    shown(await bench.open('/account', { signedIn: true, answers: known }), '[data-phase="ready"]'),
  'another address': async () => shown(await accountAfter('change-address'), '#new-address-form'),
  'the end of an account': async () => shown(await accountAfter('delete'), '#delete-dialog'),
  sessions: async () => {
    const answers = { 'GET /api/me/sessions': listed(sessions, 'more') };
    return shown(await bench.open('/account/sessions', { signedIn: true, answers }), '#list li');
  },
  apps: async () => {
    const answers = { 'GET /api/me/authorizations': listed(authorizations) };
    return shown(await bench.open('/account/apps', { signedIn: true, answers }), '#list li');
  },
  invitations: async () => {
    const answers = { 'GET /api/me/invitations': listed(invitations, 'more') };
    return shown(await bench.open('/account/invitations', { signedIn: true, answers }), '#list li');
  },
  'declining an invitation': async () => {
    const answers = { 'GET /api/me/invitations': listed(invitations) };
    const opened = await bench.open('/account/invitations', { signedIn: true, answers });
    await opened.page.locator('#list button').nth(1).press('Enter');
    return shown(opened, 'dialog');
  },
  'cutting off an app': async () => {
    const answers = { 'GET /api/me/authorizations': listed(authorizations) };
    const opened = await bench.open('/account/apps', { signedIn: true, answers });
    await opened.page.locator('#list button').first().press('Enter');
    return shown(opened, 'dialog');
  },
};

async function look(name: string, open: () => Promise<Opened>): Promise<void> {
  const { page, faults, close } = await open();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    assert.deepEqual(await broken(page), [], `${name}, ${colorScheme}`);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  assert.equal(await overflow(page), 0, `${name}: nothing is wider than the screen`);
  assert.deepEqual(await broken(page), [], `${name}, on a phone`);
  assert.equal(await overflow(page, '32px'), 0, `${name}: nor where text is twice as large`);
  assert.deepEqual(faults, [], name);
  await close();
}

test('every state can be seen and used by everybody', { skip }, async () => {
  const waiting = Object.entries(states);
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await look(...next);
    }
  };
  await Promise.all([worker(), worker(), worker()]);
});

test('with colours of the system what is wrong and what is meant has an edge', {
  skip,
}, async () => {
  const context = { forcedColors: 'active' } as const;
  const { page, close } = await bench.open('/signin', { context });
  await fill(page, 'email', 'ann');
  await page.locator('#email[aria-invalid="true"]').waitFor({ timeout: waitMs });
  const styleOf = (selector: string, member: string) =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${member}`,
    );
  await page.locator('#email').blur();
  assert.equal(await styleOf('#email', 'outlineStyle'), 'dashed');
  assert.equal(await styleOf('.main', 'borderTopStyle'), 'solid');
  await close();
});

test('by Tab alone all is reached in the order in which it is read, and the focus is seen', {
  skip,
}, async () => {
  const data = approvalOf(apps.own, scopes, 'loopback', '127.0.0.1:4711');
  const { page, close } = await bench.openApproval(data);
  const order: string[] = [];
  for (let step = 0; step < 4; step += 1) {
    await page.keyboard.press('Tab');
    order.push(
      await page.evaluate<string>('document.activeElement.id || document.activeElement.className'),
    );
    const width = await page.evaluate<string>(
      'getComputedStyle(document.activeElement).outlineWidth',
    );
    assert.equal(width, '3px');
  }
  assert.deepEqual(order, ['skip', 'switch', 'approve', 'deny']);
  await close();
});
