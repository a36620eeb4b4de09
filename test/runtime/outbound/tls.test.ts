// Over TLS: the name that was judged is the name that the certificate has to be of, though the
// connection goes to an address.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { test } from 'node:test';
import { makeCertificate, withoutOpenssl } from '../../harness/certificate.ts';
import { farSide, guardOver, quickUse, reasonOf, response } from './far-side.ts';

test('Host and SNI are the name, and https never becomes http', {
  skip: withoutOpenssl,
}, async (t) => {
  const certificate = await makeCertificate();
  const plain = await farSide(response('plain'));
  const seen: (string | boolean | undefined)[][] = [];
  const { key, cert } = certificate;
  const server = createServer({ key, cert }, (request, reply) => {
    const { servername } = request.socket as { servername?: string | false };
    seen.push([servername, request.headers.host]);
    if (request.url === '/down') reply.writeHead(302, { location: plain.url }).end();
    else reply.end('secure');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    plain.close();
    server.close();
    await certificate.remove();
  });
  const { port } = server.address() as { port: number };
  const exceptions = [`127.0.0.1:${port}`, `127.0.0.1:${plain.port}`];
  const names = { localhost: ['127.0.0.1'], 'public.example.com': ['127.0.0.1'] };
  const guard = guardOver(names, { exceptions, ca: String(cert) });
  const reply = await guard.fetch(`https://LOCALHOST.:${port}/`);
  assert.ok(reply.ok, JSON.stringify(guard.lines));
  assert.equal(reply.url, `https://localhost:${port}/`);
  const read = await reply.bytes();
  assert.ok(read.ok);
  assert.equal(String(read.bytes), 'secure');
  assert.deepEqual(seen, [['localhost', `localhost:${port}`]]);

  const another = await guard.fetch(`https://public.example.com:${port}/`);
  assert.equal(reasonOf(another), 'source_unreachable', 'the certificate is of another name');
  const byAddress = await guard.fetch(`https://127.0.0.1:${port}/`);
  assert.equal(reasonOf(byAddress), 'source_unreachable', 'nor is it of the address');
  const strict = guardOver(names, { exceptions });
  const unknown = await strict.fetch(`https://localhost:${port}/`);
  assert.equal(reasonOf(unknown), 'source_unreachable', 'nobody vouches for it');
  assert.equal(seen.length, 1);

  const down = await guard.fetch(`https://localhost:${port}/down`, quickUse);
  assert.equal(reasonOf(down), 'source_refused');
  assert.equal(plain.connections, 0);
});
