// The page /account in a real browser: profile, address, a copy of all, and the end.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { noChromium } from '../../../harness/chromium.ts';
import {
  type Answers,
  focused,
  IdentityBench,
  type Opened,
  type OpenOptions,
  refusal,
  user,
  waitMs,
} from './bench.ts';
import { listed, session, sessions } from './samples.ts';

const skip = noChromium;
let bench: IdentityBench;
before(async () => {
  const started = await IdentityBench.start();
  if (started !== null) bench = started;
});
after(() => bench?.close());

const stale = refusal(403, 'forbidden', { reason: 'reauthenticate' });
const wrongCode = refusal(401, 'unauthenticated', { reason: 'invalid_code' });
const known: Answers = {
  'GET /api/me/account': { json: { ok: true, user } },
  'GET /api/auth/session': session(),
};

const shows = (page: Page, selector: string) =>
  page.locator(`${selector}:visible`).waitFor({ timeout: waitMs });
const said = (page: Page, selector: string, text: RegExp) =>
  page.locator(selector).filter({ hasText: text }).waitFor({ timeout: waitMs });

async function openAccount(answers: Answers = {}, options: OpenOptions = {}): Promise<Opened> {
  const all = { ...known, ...answers };
  const opened = await bench.open('/account', { ...options, signedIn: true, answers: all });
  await opened.page.locator('body[data-phase="ready"]').waitFor({ timeout: waitMs });
  return opened;
}

test('the profile is shown, and a name is changed or taken away', { skip }, async () => {
  const renamed = (sent: Record<string, unknown> | null) => ({
    json: { ok: true, user: { ...user, full_name: sent?.full_name ?? null } },
  });
  const { page, sent, faults, close } = await openAccount({ 'PATCH /api/me/account': renamed });
  assert.equal(await page.textContent('#address-text'), 'ann@example.com');
  assert.equal(await page.textContent('#address-state'), 'Verified');
  assert.match((await page.textContent('#password-state')) ?? '', /^None/);
  assert.equal(await page.textContent('#since'), 'Mar 4, 2026');
  await page.fill('#full_name', 'Ann <b>Other</b>');
  await page.keyboard.press('Enter');
  await said(page, '#news', /Your name is saved/);
  assert.equal(await page.inputValue('#full_name'), 'Ann <b>Other</b>');
  await page.fill('#full_name', '  ');
  await page.keyboard.press('Enter');
  await page.waitForFunction("document.querySelector('#full_name').value === ''");
  const names = sent('PATCH /api/me/account').map((body) => body?.full_name);
  assert.deepEqual(names, ['Ann <b>Other</b>', null]);
  assert.deepEqual(faults, []);
  await close();
});

test('another address is asked for, proved by its code, and shown', { skip }, async () => {
  const opened = await openAccount({
    'POST /api/me/account/email': { json: { ok: true } },
    'POST /api/me/account/email/verify': wrongCode,
  });
  const { page, sent, faults } = opened;
  await page.locator('#change-address').press('Enter');
  await shows(page, '#new-address-form');
  assert.equal(await focused(page), 'new-address');
  await page.keyboard.insertText('new');
  await page.keyboard.press('Enter');
  await said(page, '#new-address-error', /whole address/);
  await page.keyboard.insertText('@example.com');
  await page.keyboard.press('Enter');
  await shows(page, '#address-code-form');
  assert.equal(await focused(page), 'address-code');
  await page.keyboard.insertText('123 456');
  await page.keyboard.press('Enter');
  await said(page, '#address-code-error', /wrong, or no longer good/);
  const changed = { ...user, email: 'new@example.com' };
  opened.answer({ 'POST /api/me/account/email/verify': { json: { ok: true, user: changed } } });
  await page.keyboard.press('Enter');
  await said(page, '#address-text', /^new@example\.com$/);
  assert.equal(await focused(page), 'change-address', 'the keyboard is where it began');
  assert.deepEqual(sent('POST /api/me/account/email'), [{ email: 'new@example.com' }]);
  assert.deepEqual(sent('POST /api/me/account/email/verify').at(-1), { code: '123456' });
  assert.deepEqual(faults, []);
  await opened.close();
});

test('an address of another account is refused at the address, and a cancel leaves all', {
  skip,
}, async () => {
  const { page, close } = await openAccount({
    'POST /api/me/account/email': { json: { ok: true } },
    'POST /api/me/account/email/verify': refusal(409, 'conflict'),
  });
  await page.locator('#change-address').press('Enter');
  await page.fill('#new-address', 'taken@example.com');
  await page.keyboard.press('Enter');
  await page.locator('#address-code').fill('123456');
  await page.keyboard.press('Enter');
  await said(page, '#new-address-error', /Another account/);
  await page.locator('#new-address-form .cancel').press('Enter');
  assert.ok(await page.locator('#new-address-form').isHidden());
  assert.equal(await focused(page), 'change-address');
  await close();
});

test('what takes a fresh sign-in leads there first, before anything is typed', {
  skip,
}, async () => {
  const target = /\/signin\?return_to=%2Faccount&reauthenticate=1$/;
  for (const id of ['change-address', 'export', 'delete']) {
    const { page, close } = await openAccount({ 'GET /api/auth/session': session(3_600_000) });
    await page.locator(`#${id}`).press('Enter');
    await page.waitForURL(target, { timeout: waitMs });
    await close();
  }
  // A clock that is wrong does not know it: the server does.
  const { page, close } = await openAccount({ 'POST /api/me/account/email': stale });
  await page.locator('#change-address').press('Enter');
  await page.fill('#new-address', 'new@example.com');
  await page.keyboard.press('Enter');
  await page.waitForURL(target, { timeout: waitMs });
  await close();
});

test('a copy is asked for, waited for over a reload, and offered', { skip }, async () => {
  const copy = (status: string) => ({
    json: { ok: true, export: { id: 'exp_1', status, expires_at: '2026-12-04T00:00:00Z' } },
  });
  const opened = await openAccount({
    'POST /api/me/account/export': copy('queued'),
    'GET /api/me/account/exports/exp_1': copy('running'),
  });
  const { page, faults } = opened;
  await page.locator('#export').press('Enter');
  await said(page, '#export-state', /Being put together/);
  await page.reload();
  await said(page, '#export-state', /Being put together/);
  opened.answer({ 'GET /api/me/account/exports/exp_1': copy('ready') });
  await said(page, '#export-state', /Your copy is ready until Dec 4, 2026/);
  const link = page.getByRole('link', { name: 'Download the copy' });
  assert.equal(await link.getAttribute('href'), '/api/me/account/exports/exp_1/archive');
  assert.deepEqual(faults, []);
  await opened.close();
  const again = await openAccount({
    'POST /api/me/account/export': refusal(429, 'rate_limited', {}, { 'retry-after': '70000' }),
  });
  await again.page.locator('#export').press('Enter');
  await said(again.page, '#export-state', /Try again in 20 hours/);
  await again.close();
});

test('an account ends only for who types its address, and the page says what follows', {
  skip,
}, async () => {
  const opened = await openAccount({
    'DELETE /api/me/account': refusal(409, 'invalid_state'),
  });
  const { page, sent, faults } = opened;
  await page.locator('#delete').press('Enter');
  await shows(page, '#delete-dialog');
  assert.equal(await focused(page), 'delete-confirm');
  await page.keyboard.press('Escape');
  assert.equal(await focused(page), 'delete');
  await page.keyboard.press('Enter');
  await shows(page, '#delete-dialog');
  await page.keyboard.insertText('somebody@example.com');
  await page.keyboard.press('Enter');
  await said(page, '#delete-confirm-error', /not the address of the account/);
  assert.deepEqual(sent('DELETE /api/me/account'), []);
  await page.fill('#delete-confirm', 'Ann@Example.com');
  await page.keyboard.press('Enter');
  await said(page, '#delete-confirm-error', /Said by the server/);
  opened.answer({ 'DELETE /api/me/account': { status: 202, json: { ok: true } } });
  await page.keyboard.press('Enter');
  await said(page, 'h1', /Your account is being deleted/);
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1');
  assert.deepEqual(sent('DELETE /api/me/account').at(-1), { confirm: 'ann@example.com' });
  assert.deepEqual(faults, []);
  await opened.close();
});

test('the way out is on every page, and a session that is over leads to sign in', {
  skip,
}, async () => {
  const answers = {
    ...known,
    'GET /api/me/sessions': listed(sessions),
    'GET /api/me/authorizations': listed([]),
    'POST /api/auth/logout': { json: { ok: true } },
  };
  for (const path of ['/account', '/account/sessions', '/account/apps']) {
    const { page, sent, close } = await bench.open(path, { signedIn: true, answers });
    // The session of the test is good: its page to sign in leads back at once.
    const left = page.waitForRequest(/\/signin$/, { timeout: waitMs });
    await page.locator('#sign-out').press('Enter');
    await left;
    assert.equal(sent('POST /api/auth/logout').length, 1);
    await close();
  }
  const over = { 'GET /api/me/authorizations': refusal(401, 'session_expired') };
  const { page, close } = await openAccount(over);
  const asked = page.waitForRequest(/\/signin\?return_to=%2Faccount%2Fapps$/, { timeout: waitMs });
  await page.getByRole('link', { name: 'Apps' }).press('Enter');
  await asked;
  await close();
});
