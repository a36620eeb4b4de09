// How long ago, in words, in six languages: `3 days ago`, `vor 3 Tagen`, `il y a 3 jours`. Months
// and years are no certain day.

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

const units: readonly [number, string][] = [
  [secondMs, 's sec secs second seconds sekunde sekunden seconde secondes segundo segundos'],
  [secondMs, 'secondo secondi'],
  [minuteMs, 'm min mins minute minutes minuten minuto minutos minuti'],
  [hourMs, 'h hr hrs hour hours stunde stunden std heure heures hora horas ora ore'],
  [dayMs, 'd day days tag tage tagen jour jours dia dias giorno giorni'],
  [7 * dayMs, 'w wk wks week weeks woche wochen semaine semaines semana semanas'],
  [7 * dayMs, 'settimana settimane'],
];
const unitMs = new Map(
  units.flatMap(([ms, names]) => names.split(' ').map((name): [string, number] => [name, ms])),
);
const days: readonly [number, string][] = [
  [0, 'today heute hoy oggi hoje'],
  [dayMs, 'yesterday gestern hier ayer ieri ontem'],
];
const dayWords = new Map(
  days.flatMap(([ms, names]) => names.split(' ').map((name): [string, number] => [name, ms])),
);
const patterns = [
  /^(?:about )?(\d{1,5}|an?|one) ?([a-z]+)\.? ago$/,
  /^vor (\d{1,5}|einem|einer) ([a-z]+)\.?$/,
  /^il y a (\d{1,5}|une?) ([a-z]+)\.?$/,
  /^(?:hace|ha) (\d{1,5}|un|una|um|uma) ([a-z]+)\.?$/,
  /^(\d{1,5}|un|una|un'|um|uma) ?([a-z]+)\.? (?:fa|atras)$/,
];

/** Milliseconds before now; null: the text does not say. Small letters without accents. */
export function readAgo(text: string): number | null {
  const word = dayWords.get(text);
  if (word !== undefined) return word;
  for (const pattern of patterns) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const ms = unitMs.get(found[2] ?? '');
    const count = /^\d/.test(found[1] ?? '') ? Number(found[1]) : 1;
    return ms === undefined ? null : count * ms;
  }
  return null;
}
