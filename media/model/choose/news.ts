// Whether a question asks for what changes by the day, which no model can know. It errs on the side
// of no: a search costs money and time, and the client can always ask for one.

const bytesMax = 2_000;

/** Words and phrases of time: what they stand beside is wanted as it is now. */
const now = anyOf([
  ...['today', 'tonight', 'currently', 'latest', 'newest', 'breaking', 'right now'],
  ...['this (?:week|morning|weekend)', 'most recent', 'up[- ]to[- ]date'],
  ...['heute', 'aktuell[a-z]*', 'neueste[a-z]*', 'derzeit'],
  ...['aujourd.hui', 'actuel[a-z]*', 'dernières?', 'hoy', 'actual(?:es|mente)?', 'últim[ao]s?'],
  ...['oggi', 'attual[a-z]*', 'ultim[aei]'],
]);

/** Things that have a state of the day. */
const live = anyOf([
  ...['news', 'headlines?', 'weather', 'forecast', 'stock', 'score', 'standings', 'election'],
  ...['version', 'schedule', 'share price', 'exchange rate', 'price of', 'release(?:d| date)?'],
  ...['wetter', 'nachrichten', 'kurs', 'spielstand', 'météo', 'nouvelles', 'cours'],
  ...['tiempo', 'noticias', 'precio', 'meteo', 'notizie', 'prezzo'],
]);

/** The client says itself that the web is meant. */
const web =
  /\b(search (?:the )?(?:web|internet|online)|google it|look (?:it )?up online|im internet)\b/iu;

/** Whether the text asks for what is true today. Bounded work: the end of the text is read. */
export function asksForNews(text: string): boolean {
  const question = text.slice(-bytesMax);
  if (web.test(question)) return true;
  // Code and pasted logs are full of versions and dates.
  if (question.includes('```')) return false;
  return now.test(question) && live.test(question);
}

/** Any of the phrases, as whole words; `\b` knows no accents. */
function anyOf(phrases: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\d])(?:${phrases.join('|')})(?![\\p{L}\\d])`, 'iu');
}
