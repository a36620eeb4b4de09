// Facts to be planted and asked for. A question names its fact as people do: by an identifier, by a
// number, or in other words and inflections than the fact's own; `quotes` must survive together.
import type { Language } from './prose.ts';
import type { Random } from './random.ts';

export interface Fact {
  /** As a line or sentence of a text. */
  line: string;
  question: string;
  /** All must still stand within a few hundred characters of each other. */
  quotes: string[];
}

export interface RecordFact {
  record: Record<string, unknown>;
  question: string;
  quotes: string[];
}

const PEOPLE = [
  'Marisol Quintero',
  'Tadeusz Brandt',
  'Ingrid Vaszary',
  'Olamide Ferreira',
  'Kenji Aldous',
  'Petra Lindqvist',
  'Bashir Moravec',
  'Noor Castellan',
];
const PLACES = [
  'Kelmscott',
  'Ottendorf',
  'Valmorra',
  'Brisgau',
  'Tamarind',
  'Saltash',
  'Corvane',
  'Leuven',
  'Harrowgate',
  'Pellworm',
];
const THINGS = [
  'harbour crane',
  'turbine housing',
  'cold store',
  'ferry ramp',
  'signal tower',
  'pump station',
];
const JA_PLACES = ['銚子', '米沢', '函館', '尾道', '高山'];
const ZH_PLACES = ['丽江', '敦煌', '泉州', '承德', '黄冈'];

function figure(random: Random): number {
  return 10_000 + random.integer(89_999);
}

function constantName(random: Random): string {
  const word = (): string =>
    random.pick([
      'ORDERS',
      'LEASE',
      'RETRY',
      'QUORUM',
      'BACKFILL',
      'INGEST',
      'SNAPSHOT',
      'THROTTLE',
    ]);
  const measure = random.pick(['CEILING', 'GRACE', 'WINDOW', 'DEPTH']);
  return `${word()}_${word()}_${measure}_${random.integer(90) + 10}`;
}

/** A line of source. */
export function sourceFact(random: Random): Fact {
  const [name, value] = [constantName(random), figure(random)];
  const line = `export const ${name} = ${value};`;
  return { line, question: `What is ${name} set to?`, quotes: [line] };
}

/** A line of a log, by identifier or in words. */
export function logFact(random: Random): Fact {
  const [code, volume] = [`0x${random.hex(6)}`, `vol-${figure(random)}`];
  const [person, place] = [random.pick(PEOPLE), random.pick(PLACES)];
  const port = figure(random);
  const day = 10 + random.integer(18);
  const at = `2026-11-${day}T04:1${random.integer(10)}:07.${100 + random.integer(900)}Z INFO `;
  const archive = `${place.toLowerCase()}_archive`;
  const facts: Fact[] = [
    {
      line: `${at} ledger-3 checkpoint ${code} skipped, ${volume} is mounted read-only`,
      question: `Why was checkpoint ${code} skipped?`,
      quotes: [code, volume],
    },
    {
      line: `${at} scheduler nightly vacuum of ${archive} moved to 03:47 by ${person} (#${port})`,
      question: `Who is it that wanted the vacuuming of the ${place} archives at another hour?`,
      quotes: [archive, person, String(port)],
    },
    {
      line: `${at} worker ${place.toLowerCase()}-${random.integer(9)} listening on port ${port}`,
      question: `On which port does the ${place} worker listen?`,
      quotes: [place.toLowerCase(), String(port)],
    },
  ];
  return random.pick(facts);
}

/** A hit of a search. */
export function grepFact(random: Random): Fact {
  const [value, place] = [figure(random), random.pick(PLACES)];
  const where = `src/billing/${place.toLowerCase()}-rounding.ts:${random.integer(300)}:`;
  const line = `${where}  const grace = ${value}; // agreed with the ${place} auditors`;
  return { line, question: `What grace did the auditors of ${place} agree to?`, quotes: [line] };
}

/** A passed test. */
export function testFact(random: Random): Fact {
  const [value, place] = [figure(random), random.pick(PLACES)];
  const what = `keeps ${value} rows in order after ${place} fails over`;
  const line = ` ✓ test/replica/order.test.ts > ${what}`;
  return {
    line,
    question: `How many rows stay in order in the ${place} failover test?`,
    quotes: [what],
  };
}

/** An entry of a listing. */
export function listingFact(random: Random): Fact {
  const [size, tenant] = [figure(random), `tenant-${figure(random)}`];
  const line = `-rw-r--r--   1 build    staff      ${size} Nov 14 09:31 dumps/${tenant}.sql.gz`;
  return { line, question: `How large is the dump of ${tenant}?`, quotes: [String(size), tenant] };
}

/** A record of an API. */
export function recordFact(random: Random): RecordFact {
  const [place, thing, contact] = [random.pick(PLACES), random.pick(THINGS), random.pick(PEOPLE)];
  const [id, due] = [`inv_${random.hex(10)}`, figure(random) + 0.25];
  const label = `${place} ${thing} lease`;
  const byName = `Who is our contact for the lease of the ${thing} in ${place}, and what is due?`;
  const byId = `What is due on ${id}, and who is the contact?`;
  return {
    record: { id, label, amount_due: due, contact, state: 'active', note: null },
    question: random.chance(0.5) ? byName : byId,
    quotes: [id, label, String(due), contact],
  };
}

/** A sentence of an article or a chat. */
export function proseFact(random: Random, language: Language): Fact {
  const [value, place, person] = [figure(random), random.pick(PLACES), random.pick(PEOPLE)];
  const dotted = `${Math.floor(value / 1000)}.${String(value % 1000).padStart(3, '0')}`;
  const [ja, zh] = [random.pick(JA_PLACES), random.pick(ZH_PLACES)];
  const facts: Record<Language, Fact> = {
    en: {
      line: `On 3 March the reservoir at ${place} held ${value} cubic metres, as ${person} noted.`,
      question: `How much water was in the ${place} reservoir, and who wrote it down?`,
      quotes: [place, String(value), person],
    },
    de: {
      line: `Am 3. März fasste der Stausee bei ${place} laut ${person} ${dotted} Kubikmeter.`,
      question: `Wie viele Kubikmeter fasste der Stausee von ${place} nach ${value} Messungen?`,
      quotes: [place, dotted, person],
    },
    es: {
      line: `El 3 de marzo el embalse de ${place} tenía ${dotted} metros cúbicos según ${person}.`,
      question: `¿Cuántos metros cúbicos tenía el embalse de ${place}?`,
      quotes: [place, dotted, person],
    },
    fr: {
      line: `Le 3 mars le barrage de ${place} contenait ${value} mètres cubes selon ${person}.`,
      question: `Combien de mètres cubes y avait-il dans le barrage de ${place} ?`,
      quotes: [place, String(value), person],
    },
    ja: {
      line: `三月三日に${ja}の貯水池には${value}立方メートルの水があった。`,
      question: `${ja}の貯水池の水量はどれだけでしたか。`,
      quotes: [ja, String(value)],
    },
    zh: {
      line: `三月三日${zh}水库的蓄水量为${value}立方米。`,
      question: `${zh}水库有多少水?`,
      quotes: [zh, String(value)],
    },
  };
  return facts[language];
}
