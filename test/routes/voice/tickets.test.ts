// Tickets and a shard with few places: who is told to come again may do so with the same ticket.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { Refused, VoiceClient } from '../../harness/voice-client.ts';

let bed: Testbed;
let apiKey: string;
before(async () => {
  bed = await openTestbed({ shards: 1, env: { TOLLGATE_VOICE_SESSIONS_MAX: '2' } });
  ({ apiKey } = await bed.account());
});
after(() => bed?.close());

async function makeTicket(): Promise<string> {
  const headers = { 'x-api-key': apiKey };
  const response = await fetch(`${bed.url}/v1/voice/tickets`, { method: 'POST', headers });
  return ((await response.json()) as { ticket: string }).ticket;
}

const enter = (ticket: string) =>
  VoiceClient.connect(bed.url, { query: `ticket=${ticket}` }).catch((error: unknown) => error);

/** Comes again for as long as it is told to. */
async function comeAgain(ticket: string): Promise<unknown> {
  for (;;) {
    const outcome = await enter(ticket);
    if (!(outcome instanceof Refused) || outcome.status !== 503) return outcome;
    await sleep(10);
  }
}

test('tickets that race for the last place of a shard: who is refused may come again', async () => {
  for (let round = 0; round < 20; round += 1) {
    const tickets = await Promise.all(Array.from({ length: 10 }, makeTicket));
    const outcomes = await Promise.all(tickets.map(enter));
    const refused = tickets.filter((_, index) => outcomes[index] instanceof Refused);
    assert.ok(refused.length >= 8, 'the shard has two places');
    for (const outcome of outcomes) {
      if (outcome instanceof VoiceClient) outcome.socket.terminate();
      else assert.equal((outcome as Refused).status, 503);
    }
    for (const ticket of refused) {
      const outcome = await comeAgain(ticket);
      assert.ok(outcome instanceof VoiceClient, 'the ticket is still good');
      outcome.socket.terminate();
    }
  }
});

test('a ticket whose client leaves during the handshake keeps no place', async () => {
  const address = bed.url.replace('http', 'ws');
  for (let round = 0; round < 20; round += 1) {
    const tickets = await Promise.all(Array.from({ length: 4 }, makeTicket));
    const leaving = tickets.map((ticket, index) => {
      const client = new WebSocket(`${address}/v1/voice/sessions?ticket=${ticket}`);
      client.on('error', () => undefined);
      const left = new Promise((resolve) => client.once('close', resolve));
      setTimeout(() => client.terminate(), index);
      return left;
    });
    await Promise.all(leaving);
  }
  const clients = [await comeAgain(await makeTicket()), await comeAgain(await makeTicket())];
  for (const client of clients) {
    assert.ok(client instanceof VoiceClient, 'both places are free');
    client.socket.terminate();
  }
});
