// What whoever starts the product on an empty folder can do with a browser alone. A person signs up
// by the code from the mail and lets a program in by its eight letters. Then it is cut off.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { noChromium, openChromium } from '../../harness/chromium.ts';
import { type Gateway, startGateway } from '../../harness/gateway.ts';
import { startSmtp } from '../../harness/smtp.ts';
import { cli, everyScope } from './apps.ts';
import { readMs, waitMs } from './chromium-person.ts';
import { openOpenidClient } from './openid-client.ts';

// slow: It starts three gateways, each with a database that is made for it.

const skip = noChromium;
const email = 'ann@example.com';
const deadlines = { timeout: waitMs };
let browser: Browser;
before(async () => {
  if (skip === false) browser = await openChromium();
});
after(() => browser?.close());

type ReadCode = (context: BrowserContext) => Promise<string>;

async function signUp(page: Page, url: string, readCode: ReadCode): Promise<void> {
  await page.goto(`${url}/signup`);
  await page.fill('#email', email);
  await page.fill('#full_name', 'Ann Example');
  // A new account accepts the terms. Where none are published the page asks behind the code.
  const areTermsFirst = await page.isVisible('#terms_accepted');
  if (areTermsFirst) await page.check('#terms_accepted');
  await page.click('#address-form button[type=submit]');
  await page.locator('#code:visible').waitFor(deadlines);
  await page.fill('#code', await readCode(page.context()));
  await page.click('#code-form button[type=submit]');
  if (!areTermsFirst) {
    await page.check('#lacking #terms_accepted', deadlines);
    await page.click('#code-form button[type=submit]');
  }
  await page.waitForURL(`${url}/account`, deadlines);
}

async function typeUserCode(page: Page, verificationUri: string, userCode: string): Promise<void> {
  await page.goto(verificationUri);
  await page.fill('#user-code', userCode);
  await page.click('#code-form button[type=submit]');
  await page.locator('#ask-step:visible').waitFor(deadlines);
  assert.match((await page.textContent('#title')) ?? '', /Command line/);
  assert.equal(await page.textContent('#account-address'), email);
  await page.waitForTimeout(readMs);
  await page.click('#approve');
  await page.locator('#done-step:visible').waitFor(deadlines);
}

async function disconnect(page: Page): Promise<void> {
  await page.click('a[href="/account/apps"]:visible');
  const app = page.locator('#list > li');
  await app.filter({ hasText: 'Command line' }).waitFor(deadlines);
  assert.equal(await app.count(), 1);
  await page.getByRole('button', { name: 'Disconnect Command line' }).click();
  await page.getByRole('button', { name: 'Disconnect it' }).click();
  await page.locator('#list-state').filter({ hasText: 'No app acts for you.' }).waitFor(deadlines);
}

/** All of a first day, against a product that knows nobody. */
async function live({ url }: Gateway, readCode: ReadCode): Promise<void> {
  const page = await (await browser.newContext()).newPage();
  await signUp(page, url, readCode);
  const library = await openOpenidClient(url, { ...cli, secret: null });
  const device = await library.startDevice(everyScope);
  const polled = device.poll();
  await typeUserCode(page, device.verificationUri, device.userCode);
  const tokens = await polled;
  const get = () => library.get(tokens.access_token, new URL('/api/me/api-keys', url));
  assert.equal((await get()).status, 200);
  const told = await library.get(tokens.access_token, new URL('/oauth/userinfo', url));
  const { sub: _accountId, ...person } = (await told.json()) as Record<string, unknown>;
  assert.deepEqual(person, { name: 'Ann Example', email, email_verified: true });
  await disconnect(page);
  await assert.rejects(get(), { name: 'WWWAuthenticateChallengeError', status: 401 });
  const refreshed = library.refresh(tokens.refresh_token ?? '');
  await assert.rejects(refreshed, { error: 'invalid_grant' });
  await page.context().close();
}

test('in development a browser is all that it takes, by the mailbox', { skip }, async (context) => {
  const gateway = await startGateway();
  context.after(() => gateway.close());
  await live(gateway, async (tabs) => {
    const mailbox = await tabs.newPage();
    await mailbox.goto(gateway.dev.mailbox_url ?? '');
    const mail = mailbox
      .locator('#mails > li')
      .filter({ hasText: `to ${email}` })
      .first();
    const code = await mail.locator('.code b').textContent(deadlines);
    await mailbox.close();
    return code ?? '';
  });
});

test('in production the code comes by the mail server', { skip }, async (context) => {
  const smtp = await startSmtp();
  context.after(() => smtp.close());
  const env = {
    TOLLGATE_MODE: 'production',
    TOLLGATE_SMTP_URL: smtp.url,
    TOLLGATE_MAIL_FROM: 'gate@tollgate.test',
  };
  const gateway = await startGateway({ env });
  context.after(() => gateway.close());
  await live(gateway, async () => {
    const [mail] = await smtp.receivedFor(email);
    return /\b[0-9]{6}\b/.exec(mail?.parsed.text ?? '')?.[0] ?? '';
  });
});

test('in production without a mail server nobody is asked for a code', {
  skip,
}, async (context) => {
  const gateway = await startGateway({ env: { TOLLGATE_MODE: 'production' } });
  context.after(() => gateway.close());
  assert.match(gateway.logs.join('\n'), /nobody can sign in by a code: TOLLGATE_SMTP_URL/);
  const page = await browser.newPage();
  await page.goto(`${gateway.url}/signin`);
  await page.fill('#email', email);
  const replied = page.waitForResponse(`${gateway.url}/api/auth/otp/request`, deadlines);
  await page.click('#address-form button[type=submit]');
  assert.equal((await replied).status(), 503);
  await page.locator('#problem').filter({ hasText: 'No mail can be sent' }).waitFor(deadlines);
});
