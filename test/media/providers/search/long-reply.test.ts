// Long replies of search providers: they are read in many turns of the loop, and their lists lose
// what no page of results has.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSearchClient } from '../../../../media/providers/search/call.ts';
import { searchFamily } from '../../../../media/providers/search/families.ts';
import { foundIn } from '../../../../media/providers/search/found.ts';
import { parsedReply } from '../../../../media/providers/search/parsed.ts';
import { type ScriptedServer, startScriptedServer } from '../../../harness/scripted-server.ts';
import { countTurns } from '../../../harness/turns.ts';
import { askOf, targetOf } from './ask.ts';

const bytes = 1_024 * 1_024;
const turnMsMax = 20;
/** Garbage of others is swept now and then: the best of so many rounds says what the work takes. */
const roundsMax = 12;

let server: ScriptedServer<string>;
const client = createSearchClient({ connectionsMax: 1 });

before(async () => {
  server = await startScriptedServer('{}', (body, { response }) => response.end(body));
});
after(async () => {
  await client.close();
  server.close();
});

/** A reply of about 1 MiB with so many pages. */
function replyOf(pages: number): string {
  const words = 'word "ä" <b>漢字</b> &amp; \n';
  const snippet = words.repeat(Math.ceil(bytes / pages / Buffer.byteLength(words)));
  const organic = Array.from({ length: pages }, (_, at) => ({
    title: `Page ${at}`,
    link: `https://pages.example/${at}`,
    snippet,
    attributes: { Missing: 'word' },
  }));
  return JSON.stringify({ searchParameters: {}, organic });
}

async function search() {
  const ask = askOf('web_search', 'alps');
  const { signal } = new AbortController();
  const target = targetOf('serper', server.url, 'key-of-the-provider');
  return await client.search(target, ask, { deadlineMs: 20_000, signal });
}

/** The turn of the loop that cost most meanwhile. What others do on the machine adds nothing. */
async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = process.cpuUsage();
  let isOver = false;
  const look = () => {
    const { user, system } = process.cpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.cpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  return longest;
}

for (const pages of [10, 100, 4_000]) {
  test(`a reply of 1 MiB with ${pages} pages holds no turn for ${turnMsMax} ms`, async () => {
    server.behaviour = replyOf(pages);
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < roundsMax && best >= turnMsMax; round += 1) {
      best = Math.min(best, await longestTurnMs(search));
    }
    assert.ok(best < turnMsMax, `${best} ms`);
  });
}

test('each step of a long reply has a turn of its own, and a short one takes none', async () => {
  const turnsOf = async (body: string) => {
    const read = async () => {
      const reply = await parsedReply(Buffer.from(body), targetOf('serper', server.url));
      const endpoint = searchFamily('serper')?.endpoints.web_search;
      assert.ok(reply !== null && endpoint !== undefined);
      return await foundIn(endpoint, askOf('web_search', 'alps'), reply);
    };
    return (await countTurns(read)).turns;
  };
  // Parsing, its end, reading, cleaning, taking out and writing.
  assert.ok((await turnsOf(replyOf(100))) >= 6);
  assert.ok((await turnsOf(JSON.stringify({ organic: [] }))) <= 2);
});

test('lists that are longer than any page lose their tail, and that is told', async () => {
  for (const [pages, isCut] of [
    [20, false],
    [300, true],
  ] as const) {
    const organic = Array.from({ length: pages }, (_, at) => ({ title: 'Page', link: `x:${at}` }));
    organic.push({ title: 'Page', link: 'https://pages.example/' });
    organic.reverse();
    server.behaviour = JSON.stringify({ searchParameters: {}, organic });
    const outcome = await search();
    assert.ok(outcome.state === 'found');
    assert.equal(outcome.isTruncated, isCut);
    const data = JSON.parse(outcome.dataJson) as { organic: unknown[] };
    assert.equal(data.organic.length, Math.min(pages + 1, 200));
  }
});
