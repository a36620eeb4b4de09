// The pages /signin and /signup in a real browser, by keyboard alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { noChromium } from '../../../harness/chromium.ts';
import { type Answers, focused, IdentityBench, refusal, sessionOf, user, waitMs } from './bench.ts';

const skip = noChromium;
let bench: IdentityBench;
before(async () => {
  const started = await IdentityBench.start();
  if (started !== null) bench = started;
});
after(() => bench?.close());

const request = 'POST /api/auth/otp/request';
const verify = 'POST /api/auth/otp/verify';
const requested = (resend_in = 60) => ({
  json: { ok: true, challenge_id: 'otp_1', expires_in: 600, resend_in },
});
const signedIn = { json: { ok: true, user, session: sessionOf(0), created: false } };
const invalidCode = refusal(401, 'unauthenticated', { reason: 'invalid_code' });
const works: Answers = { [request]: requested(), [verify]: signedIn };

/** Types where the focus is, and sends it. */
async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.insertText(text);
  await page.keyboard.press('Enter');
}

const shows = (page: Page, selector: string) =>
  page.locator(`${selector}:visible`).waitFor({ timeout: waitMs });
const said = (page: Page, selector: string, text: RegExp) =>
  page.locator(selector).filter({ hasText: text }).waitFor({ timeout: waitMs });

async function askCode(page: Page, address = 'ann@example.com'): Promise<void> {
  await shows(page, '#address-step');
  await page.locator('#email').focus();
  await type(page, address);
  await shows(page, '#code-step');
}

test('an address, then a code as it was copied, and the person is where it wanted to be', {
  skip,
}, async () => {
  const opened = await bench.open('/signin?return_to=%2Fvideo', { answers: works });
  const { page, faults, sent } = opened;
  await shows(page, '#address-step');
  assert.equal(await focused(page), 'email', 'where to type is where the keyboard is');
  await type(page, ' ann@example.com ');
  await shows(page, '#code-step');
  assert.equal(await focused(page), 'code');
  assert.equal(await page.title(), 'Enter the code · tollgate');
  await said(page, '#news', /A code was sent to ann@example.com/);
  assert.equal(await page.getAttribute('#code', 'autocomplete'), 'one-time-code');
  assert.equal(await page.getAttribute('#code', 'inputmode'), 'numeric');
  await type(page, '123 456');
  await page.waitForURL(`${bench.bed.url}/video`, { timeout: waitMs });
  assert.deepEqual(sent(request), [{ email: 'ann@example.com', purpose: 'login' }]);
  assert.deepEqual(sent(verify), [
    { email: 'ann@example.com', code: '123456', purpose: 'login', challenge_id: 'otp_1' },
  ]);
  assert.equal(await page.evaluate('sessionStorage.length + localStorage.length'), 0);
  assert.deepEqual(faults, []);
  await opened.close();
});

test('what is wrong is said at its field, spoken, and gone when it is mended', {
  skip,
}, async () => {
  const answers = { ...works, [verify]: invalidCode };
  const { page, sent, close } = await bench.open('/signin', { answers });
  const isWrong = async (id: string, text: RegExp) => {
    await said(page, `#${id}-error[role="alert"]`, text);
    assert.equal(await page.getAttribute(`#${id}`, 'aria-invalid'), 'true');
    assert.ok((await page.getAttribute(`#${id}`, 'aria-describedby'))?.includes(`${id}-error`));
    assert.equal(await focused(page), id);
  };
  await shows(page, '#address-step');
  await type(page, 'ann');
  await isWrong('email', /whole address/);
  assert.deepEqual(sent(request), []);
  await type(page, '@example.com');
  assert.equal(await page.getAttribute('#email', 'aria-invalid'), null);
  await shows(page, '#code-step');
  await type(page, '123');
  await isWrong('code', /all six digits/);
  await type(page, '456');
  await isWrong('code', /wrong, or no longer good/);
  assert.equal(await page.inputValue('#code'), '123456');
  await page.keyboard.press('Backspace');
  assert.equal(await page.textContent('#code-error'), '');
  await close();
});

test('an address that the server does not take is said at the address', { skip }, async () => {
  for (const [answer, text] of [
    [refusal(400, 'invalid_request', { path: 'email' }), /no address of mail/],
    [refusal(403, 'forbidden', { reason: 'signup_closed' }), /make an account with this address/],
  ] as const) {
    const { page, close } = await bench.open('/signin', { answers: { [request]: answer } });
    await shows(page, '#address-step');
    await type(page, 'ann@example.com');
    await said(page, '#email-error', text);
    await close();
  }
});

test('what keeps codes from being sent is said, and the page can be used on', {
  skip,
}, async () => {
  for (const [answer, text] of [
    [refusal(429, 'rate_limited', {}, { 'retry-after': '240' }), /too often. Try again in 4 min/],
    [refusal(503, 'dependency_unavailable'), /No mail can be sent/],
    [refusal(500, 'internal'), /does not work at the moment/],
    [refusal(403, 'forbidden', { reason: 'account_disabled' }), /switched off/],
  ] as const) {
    const opened = await bench.open('/signin', { answers: { [request]: answer } });
    const { page } = opened;
    await shows(page, '#address-step');
    await type(page, 'ann@example.com');
    await said(page, '#problem[role="alert"]', text);
    opened.answer(works);
    await page.locator('#email').press('Enter');
    await shows(page, '#code-step');
    assert.equal(await page.textContent('#problem'), '');
    await opened.close();
  }
});

test('a new code is sent when its time has come, and another address is one step away', {
  skip,
}, async () => {
  const opened = await bench.open('/signin', {
    answers: works,
    prepare: (page) => page.clock.install(),
  });
  const { page, sent } = opened;
  await askCode(page);
  const resend = page.locator('#resend');
  assert.match((await resend.textContent()) ?? '', /^Send a new code \(in \d+ s\)$/);
  assert.ok(await resend.isDisabled());
  await page.clock.fastForward(61_000);
  await page.locator('#resend:enabled').waitFor({ timeout: waitMs });
  await resend.press('Enter');
  await said(page, '#news', /A new code was sent/);
  assert.equal(await focused(page), 'code', 'the button is still, the keyboard is not lost');
  assert.equal(sent(request).length, 2);
  await page.locator('#change').press('Enter');
  await shows(page, '#address-step');
  assert.equal(await focused(page), 'email');
  assert.equal(await page.inputValue('#email'), 'ann@example.com');
  assert.equal(await page.evaluate('sessionStorage.length'), 0);
  await opened.close();
});

test('a page that is loaded anew still waits for the code, which it keeps nowhere', {
  skip,
}, async () => {
  const { page, sent, close } = await bench.open('/signin', { answers: works });
  await askCode(page);
  await page.keyboard.insertText('123456');
  const kept = await page.evaluate<string>('JSON.stringify(sessionStorage)');
  assert.doesNotMatch(kept, /123456/);
  await page.reload();
  await shows(page, '#code-step');
  assert.equal(await page.textContent('#sent-to'), 'ann@example.com');
  await type(page, '654321');
  await page.waitForURL(/return_to=%2Faccount$/, { timeout: waitMs });
  assert.equal(sent(verify)[0]?.challenge_id, 'otp_1');
  await close();
});

test('what a new account lacks appears below the code, which stays', { skip }, async () => {
  const lacking = (path: string) => refusal(400, 'invalid_request', { path });
  const opened = await bench.open('/signup?return_to=%2Fvoice&referral_code=NOBODY', {
    answers: { [request]: requested(), [verify]: lacking('referral_code') },
  });
  const { page, sent, faults } = opened;
  await shows(page, '#address-step');
  assert.equal(await page.inputValue('#referral_code'), 'NOBODY', 'of the link that led here');
  await type(page, 'ann@example.com');
  await said(page, '#full_name-error', /Type your name/);
  assert.equal(await focused(page), 'full_name');
  await type(page, 'Ann Example');
  await said(page, '#terms_accepted-error', /Accept the terms/);
  assert.equal(await focused(page), 'terms_accepted');
  assert.equal(sent(request).length, 0, 'no code is sent for what would be refused');
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await shows(page, '#code-step');
  await type(page, '123456');
  await said(page, '#referral_code-error', /no such code/);
  assert.equal(await focused(page), 'referral_code');
  assert.equal(await page.inputValue('#code'), '123456');
  opened.answer({ [verify]: signedIn });
  await page.fill('#referral_code', '');
  await type(page, 'K7QDPX2M');
  await page.waitForURL(/\/voice$/, { timeout: waitMs });
  assert.deepEqual(sent(verify).at(-1), {
    email: 'ann@example.com',
    code: '123456',
    purpose: 'signup',
    challenge_id: 'otp_1',
    full_name: 'Ann Example',
    referral_code: 'K7QDPX2M',
    terms_accepted: true,
  });
  assert.deepEqual(faults, []);
  await opened.close();
});

test('who took the wrong page goes on with what was typed on it', { skip }, async () => {
  const { page, sent, close } = await bench.open('/signin?return_to=%2Fvideo', { answers: works });
  await askCode(page);
  await page.locator('#sign-up').press('Enter');
  await shows(page, '#address-step');
  assert.equal(new URL(page.url()).pathname, '/signup');
  assert.equal(await page.title(), 'Create an account · tollgate');
  assert.equal(await page.inputValue('#email'), 'ann@example.com');
  await page.locator('#full_name').fill('Ann');
  await page.locator('#terms_accepted').check();
  await page.locator('#to-login').press('Enter');
  assert.equal(new URL(page.url()).search, '?return_to=%2Fvideo');
  await page.locator('#to-signup').press('Enter');
  await page.locator('#full_name').press('Enter');
  await shows(page, '#code-step');
  assert.deepEqual(sent(request).at(-1), { email: 'ann@example.com', purpose: 'signup' });
  await close();
});

test('an account that is being deleted is offered back, with the same code', { skip }, async () => {
  const answers = { ...works, [verify]: refusal(403, 'forbidden', { reason: 'deleting' }) };
  const opened = await bench.open('/signin?return_to=%2Fvideo', { answers });
  const { page, sent } = opened;
  await askCode(page);
  await type(page, '123456');
  await shows(page, '#restore-step');
  assert.equal(await focused(page), 'restore-title');
  opened.answer({ [verify]: signedIn });
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'restore');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/video$/, { timeout: waitMs });
  const [first, second] = sent(verify);
  assert.deepEqual(second, { ...first, restore: true });
  await opened.close();
});

test('too many wrong codes are told with the way out', { skip }, async () => {
  const answers = {
    ...works,
    [verify]: refusal(429, 'rate_limited', {}, { 'retry-after': '500' }),
  };
  const { page, close } = await bench.open('/signin', { answers });
  await askCode(page);
  await type(page, '123456');
  await said(page, '#code-error', /Too many wrong codes/);
  await close();
});

test('nobody is led away from here, whatever the page is asked', { skip }, async () => {
  for (const target of ['//evil.example', 'https://evil.example/account', 'javascript:alert(1)']) {
    const path = `/signin?return_to=${encodeURIComponent(target)}`;
    const { page, faults, close } = await bench.open(path, { answers: works });
    await askCode(page);
    await type(page, '123456');
    // Without a real session the account leads back to the page, which says where it comes from.
    await page.waitForURL(/return_to=%2Faccount$/, { timeout: waitMs });
    assert.deepEqual(faults, []);
    await close();
  }
});

test('who has to prove itself anew need not type its address, nor one that an app knows', {
  skip,
}, async () => {
  const answers = {
    ...works,
    'GET /api/auth/session': {
      json: { ok: true, authenticated: true, user, session: sessionOf(3_600_000) },
    },
  };
  const again = await bench.open('/signin?return_to=%2Faccount&reauthenticate=1', {
    answers,
    signedIn: true,
  });
  await shows(again.page, '#address-title .for-again');
  await again.page.waitForFunction("document.querySelector('#email').value !== ''");
  assert.equal(await again.page.inputValue('#email'), 'ann@example.com');
  await again.close();
  const target = '/oauth/authorize?client_id=a&login_hint=bo%40example.com';
  const hinted = await bench.open(`/signin?return_to=${encodeURIComponent(target)}`, { answers });
  await shows(hinted.page, '#address-step');
  assert.equal(await hinted.page.inputValue('#email'), 'bo@example.com');
  await hinted.close();
});

test('under a name that is not the web origin the page says where it works', { skip }, async () => {
  const origin = bench.bed.url.replace('127.0.0.1', 'localhost');
  const { page, close } = await bench.open('/signin', { origin, answers: works });
  await said(page, '#problem', new RegExp(`Open ${bench.bed.url}/signin instead`));
  await close();
});
