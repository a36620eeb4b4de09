// The way to a mail server: TLS, logins, connections that are used again, and options of the URL.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSmtpTransport, type MailTransport } from '../../../actors/mail/smtp.ts';
import { makeCertificate, withoutOpenssl } from '../../harness/certificate.ts';
import { type SmtpHarness, type SmtpOptions, startSmtp } from '../../harness/smtp.ts';

const from = { name: '', address: 'mail@tollgate.test' };
const limits = { connectionsMax: 2, connectMs: 2_000, silenceMs: 2_000, restMs: 15_000 };
const written: string[] = [];
const console_ = { log: console.log, error: console.error, warn: console.warn };
before(() => {
  const note = (...parts: unknown[]) => written.push(parts.join(' '));
  Object.assign(console, { log: note, error: note, warn: note });
});
after(() => Object.assign(console, console_));

let count = 0;
function send(transport: MailTransport, to = 'carl@example.com') {
  count += 1;
  const id = `mail_${String(count).padStart(24, '0')}`;
  const mail = { id, to, subject: 'S', text: 'T', html: '<p>T</p>', createdAt: new Date() };
  const signals = {
    deadline: AbortSignal.timeout(5_000),
    stopping: new AbortController().signal,
  };
  return transport.send(mail, signals);
}

async function withServer(
  options: SmtpOptions,
  use: (smtp: SmtpHarness, open: (url: string) => MailTransport) => Promise<void>,
): Promise<void> {
  const smtp = await startSmtp(options);
  const opened: MailTransport[] = [];
  const open = (url: string) => {
    const made = createSmtpTransport({ url, from, limits });
    opened.push(made);
    return made;
  };
  try {
    await use(smtp, open);
  } finally {
    for (const each of opened) each.close();
    await smtp.close();
  }
}

test('a connection is used again, and the second mail of many waits for one', async () => {
  await withServer({}, async (smtp, open) => {
    const transport = open(smtp.url);
    assert.deepEqual(await send(transport), { kind: 'sent' });
    assert.deepEqual(await send(transport), { kind: 'sent' });
    assert.equal(smtp.connections(), 1);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => send(transport)));
    assert.ok(outcomes.every(({ kind }) => kind === 'sent'));
    assert.ok(smtp.connections() <= 2);
  });
});

test('a login is used, and a wrong one is told without its password', async () => {
  const login = { user: 'gate', password: 'p@ss/w:rd%' };
  await withServer({ login }, async (smtp, open) => {
    assert.deepEqual(await send(open(smtp.url)), { kind: 'sent' });
    const wrong = open(smtp.url.replace(/:[^:@]+@/, ':wrong@'));
    assert.deepEqual(await send(wrong), { kind: 'refused', error: 'refused login 535 5.7.8' });
  });
});

test('TLS is asked for by the URL, and a certificate of nobody is refused', {
  skip: withoutOpenssl,
}, async () => {
  const certificate = await makeCertificate();
  await withServer({ certificate }, async (smtp, open) => {
    const strict = await send(open(smtp.url));
    assert.deepEqual(strict, { kind: 'deferred', error: 'tls', isInDoubt: false });
    assert.equal(smtp.received.length, 0);
    const lenient = open(`${smtp.url}?tls.rejectUnauthorized=false`);
    assert.deepEqual(await send(lenient), { kind: 'sent' });
    assert.equal(smtp.received[0]?.isSecure, true);
  });
  await withServer({}, async (smtp, open) => {
    const outcome = await send(open(`${smtp.url}?requireTLS=true`));
    assert.deepEqual([outcome.kind, smtp.received.length], ['deferred', 0]);
  });
  await certificate.remove();
});

test('no option of the URL makes it log, repeat by itself, or be something else', async () => {
  await withServer({}, async (smtp, open) => {
    const hostile = [
      ...['logger=true', 'debug=true', 'transactionLog=true', 'pool=false', 'maxRequeues=9'],
      ...['sendmail=true', 'jsonTransport=true', 'streamTransport=true', 'url=smtp://evil.test'],
    ];
    const transport = open(`${smtp.url}/?${hostile.join('&')}&name=gate.test`);
    assert.deepEqual(await send(transport), { kind: 'sent' });
    assert.equal(smtp.received.length, 1);
    const cut = await send(transport, 'cut-after-data+carl@example.com');
    assert.deepEqual(cut, { kind: 'deferred', error: 'unanswered', isInDoubt: true });
    assert.equal(smtp.received.length, 2);
    assert.deepEqual(written, []);
  });
});

test('a connection that the server dropped while it rested costs no mail', async () => {
  await withServer({}, async (smtp, open) => {
    const transport = open(smtp.url);
    assert.deepEqual(await send(transport), { kind: 'sent' });
    await smtp.away();
    assert.equal((await send(transport)).kind, 'deferred');
    await smtp.back();
    assert.deepEqual(await send(transport), { kind: 'sent' });
  });
});

test('odd addresses reach the server as they are, each as the only one', async () => {
  await withServer({}, async (smtp, open) => {
    const transport = open(smtp.url);
    const locals = ["o'hara+x", '=?utf-8?q?x?=', '{a}|b', '%s', 'a/b', '!#$&*', 'a.b.c', '`x`^~'];
    for (const local of locals) {
      const to = `${local}@example.com`;
      assert.deepEqual(await send(transport, to), { kind: 'sent' }, to);
      const mail = smtp.received.at(-1);
      assert.equal(mail?.to, to);
      assert.deepEqual(
        mail?.parsed.to?.map(({ address }) => address),
        [to],
      );
    }
  });
});
