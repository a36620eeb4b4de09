// What mails say: each template, and what hostile texts come to in headers, text and markup.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { describeMailError, outcomeOf } from '../../../actors/mail/outcome.ts';
import type { Mail } from '../../../actors/mail/services.ts';
import { renderMail } from '../../../actors/mail/templates.ts';
import { type MailBed, openMailBed } from './bed.ts';

const purposes = ['sign_in', 'sign_up', 'verify', 'reset', 'new_address'] as const;
const all: Mail[] = [
  ...purposes.map(
    (purpose) => ({ template: 'code', purpose, code: '482913', minutes: 10 }) as Mail,
  ),
  { template: 'no_account' },
  { template: 'address_changed', newAddress: 'new@example.com' },
  { template: 'password_changed' },
  { template: 'app_cut_off', client: 'Notes' },
  { template: 'account_deleting', untilText: '14 March 2027' },
  { template: 'export_ready', untilText: '14 March 2027' },
  {
    template: 'domain_failing',
    domain: 'acme.example',
    organization: 'Acme',
    untilText: '14 March 2027',
  },
  { template: 'domain_lapsed', domain: 'acme.example', organization: 'Acme' },
  {
    template: 'invitation',
    name: 'Acme GmbH',
    inviter: 'Ada Lovelace',
    untilText: '14 March 2027',
    link: 'https://gateway.example/account/invitations',
  },
  { template: 'organization_owner', name: 'Acme GmbH', newOwner: 'Ada Lovelace' },
  { template: 'test' },
];

let bed: MailBed;
before(async () => {
  bed = await openMailBed();
});
after(() => bed?.close());

/** What a mail says, without the page of ours that an invitation leads to. */
function withoutOwnPage(mail: Mail, written: string): string {
  if (mail.template !== 'invitation') return written;
  const anchor = `<a href="${mail.link}">${mail.link}</a>`;
  const places = written.split(mail.link).length - 1;
  assert.ok(places === 1 || (places === 2 && written.includes(anchor)), written);
  return written.replace(anchor, '').replace(mail.link, '');
}

test('no mail holds a link but to invitations, and no subject a code', () => {
  for (const mail of all) {
    const { subject, ...rendered } = renderMail(mail);
    const text = withoutOwnPage(mail, rendered.text);
    const html = withoutOwnPage(mail, rendered.html);
    assert.ok(subject.length > 5 && subject.length < 60, subject);
    assert.doesNotMatch(`${text}${html}`, /https?:|www\.|href|src=|<a\b|url\(/i, subject);
    assert.doesNotMatch(subject, /\d/);
    const codes = (found: string) => found.match(/\b\d{6}\b/g) ?? [];
    const expected = mail.template === 'code' ? ['482913'] : [];
    assert.deepEqual(codes(text), expected);
    assert.deepEqual(codes(html), expected);
  }
});

test('text and HTML of a mail say the same', () => {
  for (const mail of all) {
    const { subject, text, html } = renderMail(mail);
    const shown = html.replace(/<head>.*<\/head>/s, '').replace(/<[^>]+>/g, ' ');
    const words = (found: string) => found.split(/\s+/).filter((word) => word !== '');
    assert.deepEqual(words(shown), words(text), subject);
  }
});

test('markup of others stays text, line ends and turned directions become spaces', async () => {
  const client = `<img src=x onerror="alert('1')">\r\nBcc: all@example.com\u202e&\u0000\ud800`;
  const to = 'markup@example.com';
  const id = await bed.write(to, { mail: { template: 'app_cut_off', client } });
  await bed.process().deliver(id);
  const [mail] = await bed.smtp.receivedFor(to);
  assert.ok(mail !== undefined);
  const html = mail.parsed.html ?? '';
  assert.doesNotMatch(html, /<img/);
  assert.match(html, /&lt;img src=x onerror=&quot;alert\(&#39;1&#39;\)&quot;&gt; Bcc: all@/);
  const text = mail.parsed.text ?? '';
  assert.match(text, /<img src=x onerror="alert\('1'\)"> Bcc: all@example\.com & \ufffd/);
  assert.equal(mail.parsed.headers.filter(({ key }) => key === 'bcc').length, 0);
  assert.deepEqual(
    mail.parsed.to?.map(({ address }) => address),
    [to],
  );
});

test('a text that is too long is cut', async () => {
  const to = 'long@example.com';
  const id = await bed.write(to, { mail: { template: 'app_cut_off', client: '🌍'.repeat(5_000) } });
  await bed.process().deliver(id);
  const [mail] = await bed.smtp.receivedFor(to);
  assert.equal((mail?.parsed.text ?? '').match(/🌍/gu)?.length, 300);
});

test('other scripts come as they are, and domains in their ASCII form', async () => {
  const id = await bed.write('Lena@Bücher.example', {
    mail: { template: 'app_cut_off', client: 'Ключи 鍵 🔑' },
  });
  await bed.process().deliver(id);
  const [mail] = await bed.smtp.receivedFor('lena@xn--bcher-kva.example');
  assert.match(mail?.parsed.text ?? '', /Ключи 鍵 🔑/);
  assert.match(mail?.parsed.html ?? '', /Ключи 鍵 🔑/);
});

test('what is no address is written to nobody, whatever headers it would make', async () => {
  for (const to of [
    'a@example.com\r\nBcc: b@example.com',
    'a@example.com, b@example.com',
    'Anna <a@example.com>',
    'a@example.com\0',
    '"a b"@example.com',
    'a@[127.0.0.1]',
    'group: a@example.com;',
    '',
  ]) {
    await assert.rejects(bed.write(to), /no address/, JSON.stringify(to));
  }
});

test('what came of an attempt is read from status and code, never from the text', () => {
  const thrown = (members: object) => Object.assign(new Error('anna@example.com'), members);
  const read = (members: object, isHandedOver = false) => outcomeOf(thrown(members), isHandedOver);
  const response = '421 4.7.0 anna@example.com: too many';
  assert.deepEqual(read({ code: 'EENVELOPE', responseCode: 421, response }, true), {
    kind: 'deferred',
    error: 'deferred 421 4.7.0',
    isInDoubt: false,
  });
  assert.deepEqual(read({ code: 'EAUTH', responseCode: 535, command: 'AUTH PLAIN' }), {
    kind: 'refused',
    error: 'refused login 535',
  });
  assert.deepEqual(read({ code: 'ECONNECTION' }, true), {
    kind: 'deferred',
    error: 'unanswered',
    isInDoubt: true,
  });
  assert.deepEqual(read({ code: 'EENVELOPE' }), { kind: 'refused', error: 'malformed' });
  const kinds = { EDNS: 'unreachable', ETIMEDOUT: 'timeout', ETLS: 'tls', EODD: 'failed' };
  for (const [code, error] of Object.entries(kinds)) {
    assert.deepEqual(read({ code }), { kind: 'deferred', error, isInDoubt: false });
  }
  for (const nothing of [null, undefined, 'text', 7]) {
    assert.equal(outcomeOf(nothing, false).kind, 'deferred');
  }
});

test('administrators are told each error in a sentence', () => {
  const told = ['refused login 535 5.7.8', 'refused 550', 'deferred 451 4.3.0', 'expired', 'odd'];
  assert.deepEqual(told.map(describeMailError), [
    'The mail server does not let us in (535 5.7.8).',
    'The mail server refused the mail (550).',
    'The mail server asked for another try later (451 4.3.0).',
    'A mail expired before it could be sent.',
    'The mail could not be sent.',
  ]);
});
