// Names of months in the six languages in which providers write dates. Accents are left out.

const names = [
  'jan january januar janner janv janvier ene enero gen gennaio janeiro',
  'feb february februar fev fevr fevrier febrero febbraio fevereiro',
  'mar march marz mrz mars marzo marco',
  'apr april avr avril abr abril aprile',
  'may mai mayo maggio mag maio',
  'jun june juni juin junio giu giugno junho',
  'jul july juli juil juillet julio lug luglio julho',
  'aug august aout ago agosto',
  'sep sept september septembre septiembre set settembre setembro',
  'oct october okt oktober octobre octubre ott ottobre out outubro',
  'nov november novembre noviembre novembro',
  'dec december dez dezember decembre dic diciembre dicembre dezembro',
];

const numbers = new Map(
  names.flatMap((month, at) => month.split(' ').map((name): [string, number] => [name, at + 1])),
);

/** From 1; undefined: it is no month. Small letters without accents. */
export function monthOf(name: string): number | undefined {
  return numbers.get(name);
}
