// The pages of sessions and of apps in a real browser: what is listed, and how one is ended.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { noChromium } from '../../../harness/chromium.ts';
import { type Answers, focused, IdentityBench, type Opened, refusal, waitMs } from './bench.ts';
import { authorizations, invitations, listed, sessions } from './samples.ts';

const skip = noChromium;
let bench: IdentityBench;
before(async () => {
  const started = await IdentityBench.start();
  if (started !== null) bench = started;
});
after(() => bench?.close());

const said = (page: Page, selector: string, text: RegExp) =>
  page.locator(selector).filter({ hasText: text }).waitFor({ timeout: waitMs });

async function openList(path: string, answers: Answers): Promise<Opened> {
  const opened = await bench.open(path, { signedIn: true, answers });
  const list = opened.page.locator('#list:not([aria-busy])');
  await list.waitFor({ state: 'attached', timeout: waitMs });
  return opened;
}

test('sessions are listed with this one marked, and one of them is ended', { skip }, async () => {
  const opened = await openList('/account/sessions', {
    'GET /api/me/sessions': listed(sessions),
    'POST /api/me/sessions/revoke': { json: { ok: true, sessions: 1 } },
  });
  const { page, sent, faults } = opened;
  const items = page.locator('#list > li');
  const texts = await items.allTextContents();
  assert.match(texts[0] ?? '', /^Firefox on Linux This browserIn use now/);
  assert.match(texts[1] ?? '', /^Safari on iOSLast used 3 hours ago.*2001:db8:12:…/);
  assert.match(texts[2] ?? '', /^svc-desktop AppLast used 2 days ago.*with a password/);
  assert.equal(await items.first().getByRole('button').count(), 0, 'this one signs out above');
  await page.getByRole('button', { name: 'Sign out Safari on iOS' }).press('Enter');
  await said(page, '#news', /Safari on iOS is signed out/);
  assert.equal(await items.count(), 2);
  assert.equal(await focused(page), 'list-title');
  assert.deepEqual(sent('POST /api/me/sessions/revoke'), [{ session_id: sessions[1]?.id }]);
  assert.deepEqual(faults, []);
  await opened.close();
});

test('all others are ended after a question, which Escape answers with no', { skip }, async () => {
  const { page, sent, close } = await openList('/account/sessions', {
    'GET /api/me/sessions': listed(sessions),
    'POST /api/me/sessions/revoke': { json: { ok: true, sessions: 2 } },
  });
  const all = page.locator('#revoke-all');
  await all.press('Enter');
  await page.getByRole('dialog', { name: 'Sign out everywhere else?' }).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await focused(page), 'revoke-all');
  assert.deepEqual(sent('POST /api/me/sessions/revoke'), []);
  await all.press('Enter');
  await page.getByRole('button', { name: 'Sign them out' }).press('Enter');
  await said(page, '#news', /signed out everywhere else/);
  assert.equal(await page.locator('#list > li').count(), 1);
  assert.ok(await all.isHidden());
  assert.deepEqual(sent('POST /api/me/sessions/revoke'), [{ all_others: true }]);
  await close();
});

test('a long list comes in pages, and what came is read on from its first', { skip }, async () => {
  const many = Array.from({ length: 3 }, (_, index) => ({
    ...sessions[1],
    id: `ses_${index}`,
    user_agent: `more-${index}/1`,
  }));
  const opened = await openList('/account/sessions', {
    'GET /api/me/sessions': listed(sessions, 'next page'),
  });
  const { page } = opened;
  const queries: string[] = [];
  page.on('request', (request) => queries.push(new URL(request.url()).search));
  opened.answer({ 'GET /api/me/sessions': listed(many) });
  await page.locator('#more').press('Enter');
  await page.locator('#list > li').nth(5).waitFor({ timeout: waitMs });
  assert.deepEqual(queries, ['?cursor=next%20page']);
  assert.ok(await page.locator('#more').isHidden());
  const label = await page.evaluate<string>('document.activeElement.ariaLabel');
  assert.match(label, /^Sign out more-0/);
  await opened.close();
});

test('apps are listed with what they may do and made, and one is cut off', { skip }, async () => {
  const opened = await openList('/account/apps', {
    'GET /api/me/authorizations': listed(authorizations),
    'POST /api/me/authorizations/revoke': { json: { ok: true, authorizations: 1, api_keys: 2 } },
  });
  const { page, sent, faults } = opened;
  const texts = await page.locator('#list > li').allTextContents();
  assert.match(
    texts[0] ?? '',
    /^Command lineSee your nameAct for you.* minutes ago.*laptop svc_live/,
  );
  assert.match(texts[1] ?? '', /^notes\.example Unknown to tollgate/);
  await page.getByRole('button', { name: 'Disconnect Command line' }).press('Enter');
  const question = page.getByRole('dialog', { name: 'Disconnect Command line?' });
  assert.match((await question.textContent()) ?? '', /2 API keys that it made will stop working/);
  await question.getByRole('button', { name: 'Disconnect it' }).press('Enter');
  await said(page, '#news', /Command line is disconnected/);
  assert.equal(await page.locator('#list > li').count(), 1);
  assert.deepEqual(sent('POST /api/me/authorizations/revoke'), [{ client_id: 'svc-cli' }]);
  assert.deepEqual(faults, []);
  await opened.close();
});

test('invitations are accepted at once, and declined after a question', { skip }, async () => {
  const [first, second] = invitations;
  const accepting = `POST /api/me/invitations/${first?.id}/accept`;
  const declining = `POST /api/me/invitations/${second?.id}/decline`;
  const opened = await openList('/account/invitations', {
    'GET /api/me/invitations': listed(invitations),
    [accepting]: { json: { ok: true } },
    [declining]: { json: { ok: true } },
  });
  const { page, sent, faults } = opened;
  const yes = page.getByRole('button', { name: 'Accept the invitation to Acme GmbH' });
  await yes.press('Enter');
  await said(page, '#news', /You are a member of Acme GmbH/);
  assert.equal(await focused(page), 'list-title');
  assert.equal(sent(accepting).length, 1);
  await page.getByRole('button', { name: /^Decline the invitation to Donau/ }).press('Enter');
  await page.keyboard.press('Escape');
  assert.equal(sent(declining).length, 0);
  await page.getByRole('button', { name: /^Decline the invitation to Donau/ }).press('Enter');
  await page.getByRole('button', { name: 'Decline it' }).press('Enter');
  await said(page, '#list-state', /No organization waits for you/);
  assert.equal(sent(declining).length, 1);
  assert.deepEqual(faults, []);
  await opened.close();
});

test('an invitation that is over is told and taken away', { skip }, async () => {
  const { page, close } = await openList('/account/invitations', {
    'GET /api/me/invitations': listed(invitations),
    [`POST /api/me/invitations/${invitations[0]?.id}/accept`]: refusal(409, 'invalid_state', {
      reason: 'invitation_status',
    }),
  });
  await page.locator('#list button').first().press('Enter');
  await said(page, '#news', /The invitation to Acme GmbH is over/);
  assert.equal(await page.locator('#list > li').count(), 1);
  await close();
});

test('an empty list and one that does not come say so', { skip }, async () => {
  const empty = await openList('/account/apps', { 'GET /api/me/authorizations': listed([]) });
  await said(empty.page, '#list-state', /No app acts for you/);
  await empty.close();
  const broken = await openList('/account/apps', {
    'GET /api/me/authorizations': refusal(503, 'dependency_unavailable'),
  });
  await said(broken.page, '#list-state', /could not be loaded/);
  await said(broken.page, '#problem', /does not work at the moment/);
  await broken.close();
});
