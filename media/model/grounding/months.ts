// Names of months in the six languages of the check, so that `2026-10-03` is found in a text that
// says "3 October 2026".

const names: readonly string[] = [
  'january jan januar jänner janvier enero gennaio janeiro',
  'february feb februar février fevrier febrero febbraio fevereiro',
  'march mar märz mars marzo março',
  'april apr avril abril aprile',
  'may mai mayo maggio maio',
  'june jun juni juin junio giugno junho',
  'july jul juli juillet julio luglio julho',
  'august aug août aout agosto',
  'september sep sept septembre septiembre settembre setembro',
  'october oct oktober okt octobre octubre ottobre outubro',
  'november nov novembre noviembre novembro',
  'december dec dezember dez décembre diciembre dicembre dezembro',
];

const numbers = new Map(
  names.flatMap((list, index) => list.split(' ').map((name) => [name, index + 1] as const)),
);

/** 1 to 12; 0: it is none. In small letters. */
export function monthNumber(word: string): number {
  return numbers.get(word) ?? 0;
}
