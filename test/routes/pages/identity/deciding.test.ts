// The approval page and /oauth/device in a real browser: who asks, for what, on which account, and
// where a decision leads.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { ApprovalData } from '../../../../routes/pages/identity/approval.ts';
import { noChromium } from '../../../harness/chromium.ts';
import { type Answers, focused, IdentityBench, oauthRefusal, refusal, waitMs } from './bench.ts';
import { approvalOf, apps, askedBy, session } from './samples.ts';

const skip = noChromium;
let bench: IdentityBench;
before(async () => {
  const started = await IdentityBench.start();
  if (started !== null) bench = started;
});
after(() => bench?.close());

const decision = 'POST /oauth/authorize/decision';
const device = 'POST /oauth/device';
const leadsTo = (redirect_to: string): Answers => ({
  [decision]: { json: { ok: true, redirect_to } },
});

const shows = (page: Page, selector: string) =>
  page.locator(`${selector}:visible`).waitFor({ timeout: waitMs });
const text = async (page: Page, selector: string) => (await page.textContent(selector)) ?? '';

/** What stands on the page for people to decide by. */
async function read(page: Page) {
  return {
    title: await text(page, '#title'),
    mark: await text(page, '#mark'),
    warning: (await page.locator('#warning').isVisible()) ? await text(page, '#warning') : null,
    account: `${await text(page, '#account-name')} ${await text(page, '#account-address')}`,
    scopes: await page.locator('#scopes li').allTextContents(),
    outcome: await text(page, '#outcome'),
  };
}

test('a program of ours is marked, and an app on this computer gets the answer', {
  skip,
}, async () => {
  const seen: string[] = [];
  const app = createServer((asked, reply) => {
    seen.push(asked.url ?? '');
    reply.end('Signed in.');
  }).listen(0, '127.0.0.1');
  await once(app, 'listening');
  const place = `127.0.0.1:${(app.address() as AddressInfo).port}`;
  const data = approvalOf(apps.own, ['profile', 'app', 'offline_access'], 'loopback', place);
  const opened = await bench.openApproval(data, {
    answers: leadsTo(`http://${place}/callback?code=c&iss=i`),
  });
  const { page, sent, faults } = opened;
  const shown = await read(page);
  assert.equal(shown.title, 'Allow Command line to use your account?');
  assert.equal(shown.mark, 'Made by tollgate');
  assert.equal(shown.warning, null);
  assert.equal(shown.account, 'Ann Example ann@example.com');
  assert.match(shown.scopes.join(), /See your name,Act for you.*But not change your address/);
  assert.match(shown.outcome, /Until you disconnect it.*this computer \(127\.0\.0\.1:\d+\)/);
  await page.locator('#approve').press('Enter');
  await page.waitForURL(`http://${place}/**`, { timeout: waitMs });
  assert.deepEqual(sent(decision), [{ request: data.request, decision: 'approve' }]);
  assert.ok(seen.includes('/callback?code=c&iss=i'));
  assert.deepEqual(
    faults.filter((fault) => !fault.startsWith(`asked http://${place}`)),
    [],
  );
  await opened.close();
  app.close();
  app.closeAllConnections();
});

test('an app that nobody knows is called by its host, and its name stays a claim', {
  skip,
}, async () => {
  const client = { ...apps.unknown, display_name: '<img src=x onerror=alert(1)>tollgate' };
  const data = approvalOf(client, ['profile'], 'https', 'notes.example');
  const opened = await bench.openApproval(data, {
    answers: leadsTo('https://notes.example/callback?error=access_denied'),
  });
  const { page, sent, faults } = opened;
  await page.route('https://notes.example/**', (route) => route.fulfill({ body: 'denied' }));
  const shown = await read(page);
  assert.equal(shown.title, 'Allow notes.example to use your account?');
  assert.equal(shown.mark, 'Unknown to tollgate');
  assert.match(shown.warning ?? '', /calls itself “<img src=x onerror=alert\(1\)>tollgate”/);
  assert.match(shown.outcome, /For one hour.*notes\.example/);
  assert.equal(await page.locator('main img').count(), 0);
  await page.locator('#deny').press('Enter');
  await page.waitForURL('https://notes.example/**', { timeout: waitMs });
  assert.deepEqual(sent(decision), [{ request: data.request, decision: 'deny' }]);
  assert.deepEqual(
    faults.filter((fault) => !fault.startsWith('asked https://notes.example/')),
    [],
  );
  await opened.close();
});

test('behind a scheme of an app the page says that it is done, and shows no code', {
  skip,
}, async () => {
  const data = approvalOf(apps.partner, ['email'], 'private', 'partner-studio:');
  const redirect = 'partner-studio:/callback?code=svc_ac_secret';
  const { page, faults, close } = await bench.openApproval(data, { answers: leadsTo(redirect) });
  assert.equal((await read(page)).mark, 'Registered with tollgate');
  await page.locator('#approve').press('Enter');
  await shows(page, '#done-step');
  assert.equal(await focused(page), 'done-title');
  assert.equal(await text(page, '#done-title'), 'Partner Studio is connected');
  assert.match(await text(page, '#done-text'), /You can close this window/);
  await page.waitForFunction("document.title === 'Partner Studio is connected · tollgate'");
  assert.doesNotMatch(await page.content(), /svc_ac_secret/);
  await page.locator('#open-again').press('Enter');
  const asked = faults.filter((fault) => fault === `asked ${redirect}`);
  assert.ok(asked.length >= 1, faults.join());
  await close();
});

test('what would run here as a script is never opened', { skip }, async () => {
  const data = approvalOf(apps.partner, ['email'], 'private', 'x:');
  for (const redirect of ['javascript:alert(1)', 'data:text/html,x', 'nonsense']) {
    const { page, faults, close } = await bench.openApproval(data, { answers: leadsTo(redirect) });
    await page.locator('#approve').press('Enter');
    await page.locator('#problem').filter({ hasText: 'no place' }).waitFor({ timeout: waitMs });
    assert.deepEqual(faults, []);
    await close();
  }
});

test('a press counts only on a page that was in front for a moment', { skip }, async () => {
  const data = approvalOf(apps.own, ['app'], 'private', 'svc-desktop:');
  const answers = leadsTo('svc-desktop:/callback');
  const { page, sent, close } = await bench.openApproval(data, { answers });
  const press = `document.querySelector('#approve')
    .dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 2 }))`;
  await page.evaluate(`dispatchEvent(new Event('focus')); ${press}`);
  await page.locator('#problem').filter({ hasText: 'press again' }).waitFor({ timeout: waitMs });
  assert.deepEqual(sent(decision), []);
  await page.waitForTimeout(600);
  await page.evaluate(press);
  await shows(page, '#done-step');
  assert.equal(sent(decision).length, 1);
  await close();
});

test('a request that is over, or a session that is, has a way on', { skip }, async () => {
  const data = approvalOf(apps.own, ['app'], 'private', 'svc-desktop:');
  const over = await bench.openApproval(data, {
    answers: { [decision]: oauthRefusal(400, 'invalid_request') },
  });
  await over.page.locator('#approve').press('Enter');
  await shows(over.page, '#over-step');
  assert.equal(await focused(over.page), 'over-title');
  await over.page.locator('#anew').press('Enter');
  await shows(over.page, '#ask-step');
  await over.close();
  const out = await bench.openApproval(data, {
    answers: { [decision]: oauthRefusal(401, 'unauthenticated') },
  });
  await out.page.locator('#approve').press('Enter');
  await out.page.waitForURL(/\/signin\?return_to=%2Foauth%2Fauthorize%3Fclient_id%3Dx/, {
    timeout: waitMs,
  });
  await out.close();
  const late = await bench.openApproval(data, {
    answers: { [decision]: refusal(503, 'overloaded') },
  });
  await late.page.locator('#deny').press('Enter');
  await late.page.locator('#problem').filter({ hasText: 'at the moment' }).waitFor();
  await late.close();
});

test('who is somebody else signs out, and comes back to the same request', { skip }, async () => {
  const data: ApprovalData = approvalOf(apps.own, ['app'], 'private', 'svc-desktop:');
  const { page, sent, close } = await bench.openApproval(data, {
    answers: { 'POST /api/auth/logout': { json: { ok: true } } },
  });
  await page.locator('#switch').press('Enter');
  await page.waitForURL(/\/signin\?return_to=%2Foauth%2Fauthorize/, { timeout: waitMs });
  assert.equal(sent('POST /api/auth/logout').length, 1);
  await close();
});

test('a device is let in by its code, in whatever form that is typed', { skip }, async () => {
  const answers = { 'GET /api/auth/session': session(), [device]: askedBy(apps.own) };
  const opened = await bench.open('/oauth/device?user_code=BCDF-GHJK', { signedIn: true, answers });
  const { page, sent, faults } = opened;
  await shows(page, '#code-step');
  assert.equal(await focused(page), 'user-code');
  assert.equal(await page.inputValue('#user-code'), '', 'a link does not type it');
  await page.keyboard.type('bcd fgh1jk');
  assert.equal(await page.inputValue('#user-code'), 'BCDF-GHJK');
  await page.keyboard.press('Enter');
  await shows(page, '#ask-step');
  assert.equal(await focused(page), 'title');
  const shown = await read(page);
  assert.equal(shown.title, 'Allow Command line to use your account?');
  assert.equal(shown.account, 'Ann Example ann@example.com');
  assert.match(shown.outcome, /Asked2 minutes ago, from the network 203\.0\.113\.x/);
  assert.ok(await page.locator('#elsewhere').isHidden());
  opened.answer({ [device]: { json: { ok: true } } });
  await page.locator('#approve').press('Enter');
  await shows(page, '#done-step');
  assert.equal(await focused(page), 'done-title');
  assert.equal(await text(page, '#done-title'), 'Your device is connected');
  assert.deepEqual(sent(device), [
    { user_code: 'BCDF-GHJK' },
    { user_code: 'BCDF-GHJK', decision: 'approve' },
  ]);
  await page.locator('#another').press('Enter');
  assert.equal(await focused(page), 'user-code');
  assert.equal(await page.inputValue('#user-code'), '');
  assert.deepEqual(faults, []);
  await opened.close();
});

test('a device in another network is warned of, and can be denied', { skip }, async () => {
  const answers = {
    'GET /api/auth/session': session(),
    [device]: askedBy(apps.own, { is_other_network: true }),
  };
  const opened = await bench.open('/oauth/device', { signedIn: true, answers });
  const { page, sent } = opened;
  await shows(page, '#code-step');
  await page.keyboard.insertText('BCDF-GHJK');
  await page.keyboard.press('Enter');
  await shows(page, '#elsewhere');
  assert.match(
    await text(page, '#elsewhere'),
    /not in your network, but in the network 203\.0\.113\.x\. Deny it unless/,
  );
  opened.answer({ [device]: { json: { ok: true } } });
  await page.locator('#deny').press('Enter');
  await shows(page, '#done-step');
  assert.equal(await text(page, '#done-title'), 'The device was denied');
  assert.equal(sent(device).at(-1)?.decision, 'deny');
  await opened.close();
});

test('a code that no device waits with is said at its field, before and after', {
  skip,
}, async () => {
  const opened = await bench.open('/oauth/device', {
    signedIn: true,
    answers: { 'GET /api/auth/session': session(), [device]: oauthRefusal(400, 'invalid_grant') },
  });
  const { page, sent } = opened;
  const isWrong = async (words: string) => {
    await page.locator('#user-code-error').filter({ hasText: words }).waitFor({ timeout: waitMs });
    assert.equal(await focused(page), 'user-code');
  };
  await shows(page, '#code-step');
  await page.keyboard.type('BCD');
  await page.keyboard.press('Enter');
  await isWrong('all eight letters');
  assert.deepEqual(sent(device), []);
  await page.keyboard.type('FGHJK');
  await page.keyboard.press('Enter');
  await isWrong('No device waits');
  opened.answer({ [device]: askedBy(apps.own) });
  await page.keyboard.press('Enter');
  await shows(page, '#ask-step');
  opened.answer({ [device]: oauthRefusal(400, 'expired_token') });
  await page.locator('#approve').press('Enter');
  await isWrong('No device waits');
  opened.answer({
    [device]: { ...oauthRefusal(429, 'slow_down'), headers: { 'retry-after': '600' } },
  });
  await page.keyboard.type('BCDFGHJK');
  await page.keyboard.press('Enter');
  await page.locator('#problem').filter({ hasText: 'in 10 minutes' }).waitFor({ timeout: waitMs });
  await opened.close();
});
