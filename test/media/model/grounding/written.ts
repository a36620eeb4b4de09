// Eighty written answers. `[1]` is a good mark; `[!1]` is one that has to go, as is what stands in
// `{{…}}`. Nothing else of an answer may change.
import type { Topic } from './pages.ts';

export type WrittenKind =
  | 'good'
  | 'unknown mark'
  | 'wrong item'
  | 'changed number'
  | 'invented address'
  | 'no mark'
  | 'two languages'
  | 'Chinese';

type Written = readonly [WrittenKind, Topic, string];

const good: Written[] = [
  ['good', 'oslo', 'Oslo is the capital of Norway and its most populous city [1].'],
  ['good', 'oslo', 'The city of Oslo was founded in 1040, at the end of the Viking Age. [1]'],
  ['good', 'oslo', 'In 2022 the municipality had a population of 709 037 [1].'],
  ['good', 'oslo', 'Oslo is the capital [1], while Bergen lies on the west coast of Norway [2].'],
  ['good', 'oslo', 'Bryggen, a wharf in Bergen, is a UNESCO World Heritage Site[2].'],
  ['good', 'oslo', 'Expect rain: Bergen gets rain on about 200 days a year [2]. Bring a coat!'],
  [
    'good',
    'oslo',
    '- The Flåm Railway climbs 866 metres [3].\n- Its steepest gradient is 5.5 % [3].\n' +
      '- The journey takes about one hour [3].',
  ],
  ['good', 'oslo', 'The line between Flåm and Myrdal was opened on 1940-08-01 [3].'],
  [
    'good',
    'oslo',
    'The listing is at https://whc.unesco.org/en/list/59, a World Heritage Site [2].',
  ],
  ['good', 'oslo', 'More on the travel guide of Bergen stands at visitbergen.com [2].'],
  ['good', 'battery', 'Nearly 14 million electric cars were sold in 2023, 35 percent more [1].'],
  ['good', 'battery', 'China accounted for 60% of the registrations [1]; Europe for 25 % [1].'],
  ['good', 'battery', 'Battery pack prices fell 14% to $139 per kilowatt-hour in 2023 [2].'],
  ['good', 'battery', 'Prices may reach $113 in 2025 [2] and $80 in 2030, analysts expect [2].'],
  ['good', 'battery', 'The recycling plant in Nevada cost $1,200,000,000 [3].'],
  ['good', 'battery', 'The Nevada plant opened on 12 October 2022 [3].'],
  ['good', 'battery', 'Lithium carbonate prices dropped sharply, and battery demand grew [1, 2].'],
  ['good', 'battery', '## Sales\n\nElectric cars sold: 14,000,000 in 2023 [1].'],
  ['good', 'rhein', 'Der Rhein ist etwa 1230 Kilometer lang [1].'],
  ['good', 'rhein', 'Der Fluss entspringt in den Schweizer Alpen und mündet in die Nordsee [1].'],
  ['good', 'rhein', 'Am Rheinfall stürzen im Sommer 600 000 Liter Wasser pro Sekunde herab [1].'],
  ['good', 'rhein', 'Seit dem 03.12.1996 steht der Kölner Dom auf der Liste des Welterbes [2].'],
  ['good', 'rhein', 'Die Türme des Doms sind 157 m hoch [2]. Jährlich kommen 6 Mio. Besucher [2].'],
  ['good', 'tour', 'La tour Eiffel mesure 330 mètres et pèse environ 10.100 tonnes [1].'],
  ['good', 'tour', 'Elle fut construite par Gustave Eiffel pour l’Exposition de 1889 [1].'],
  ['good', 'tour', 'El acueducto de Segovia tiene 167 arcos de granito [2].'],
  ['good', 'tour', 'Los romanos lo construyeron; su altura máxima es de 28,1 metros [2].'],
  ['good', 'tour', 'Il Colosseo poteva contenere fino a 75 000 spettatori [3].'],
  ['good', 'tour', 'A ponte foi inaugurada em 29/03/1998 e tem 17,2 quilómetros [3].'],
  ['good', 'asia', '경복궁은 조선 왕조의 궁궐로 1395년에 세워졌다 [1].'],
  ['good', 'asia', 'ताजमहल आगरा में यमुना नदी के किनारे स्थित है [2]। निर्माण 1632 में हुआ [2]।'],
  ['good', 'asia', 'Эрмитаж основан в 1764 году императрицей Екатериной II [3].'],
  ['good', 'asia', 'يبلغ ارتفاع الهرم الأكبر 138 مترا [3]؟ نعم.'],
];

const unknown: Written[] = [
  ['unknown mark', 'oslo', 'Oslo is the capital of Norway [1][!4].'],
  ['unknown mark', 'oslo', 'Oslo is the capital of Norway [!9].'],
  ['unknown mark', 'oslo', 'Bergen is surrounded by seven mountains [2] [!0].'],
  [
    'unknown mark',
    'battery',
    'Europe accounted for 25% of registrations [1] in that year [!2023].',
  ],
  [
    'unknown mark',
    'battery',
    'A recycling plant shreds used batteries [!12] and recovers metals [3].',
  ],
  ['unknown mark', 'rhein', 'Der Rhein ist rund 1.230 Kilometer lang [1]. [!3]'],
  ['unknown mark', 'tour', 'La tour Eiffel mesure 330 mètres de haut [!10][1].'],
  ['unknown mark', 'asia', 'Эрмитаж основан в 1764 году [!5].'],
];

const wrong: Written[] = [
  ['wrong item', 'oslo', 'Oslo was founded in 1040 under the name Ánslo [!2].'],
  ['wrong item', 'oslo', 'The steepest gradient of the railway is 5.5 percent [!1].'],
  ['wrong item', 'oslo', 'Bergen has rain on 200 days of the year [!3][2].'],
  [
    'wrong item',
    'battery',
    'Hydrometallurgical processes recover the metals of the black mass [!2].',
  ],
  ['wrong item', 'battery', 'China had most registrations of electric cars [!3].'],
  ['wrong item', 'battery', 'Packs cost $139 per kilowatt-hour on average [!1][!3][2].'],
  ['wrong item', 'rhein', 'Der Kölner Dom wurde im Jahr 1880 vollendet [!1].'],
  ['wrong item', 'tour', 'El acueducto de Segovia fue construido por los romanos [!1].'],
  ['wrong item', 'asia', '경복궁은 조선 왕조의 궁궐이다 [!3].'],
];

const numbers: Written[] = [
  ['changed number', 'oslo', 'The municipality of Oslo had a population of 790,037 in 2022 [!1].'],
  ['changed number', 'oslo', 'The Flåm Railway climbs 868 metres over a length of 20.2 km [!3].'],
  ['changed number', 'oslo', 'The railway line was opened on 11 August 1940 [!3].'],
  ['changed number', 'battery', 'Nearly 17 million electric cars were sold in 2023 [!1].'],
  ['changed number', 'battery', 'The price of a battery pack fell by 41 percent in 2023 [!2].'],
  ['changed number', 'battery', 'The recycling plant in Nevada cost 2.1 billion dollars [!3].'],
  ['changed number', 'battery', 'The recycling plant in Nevada opened on 2022-11-12 [!3].'],
  ['changed number', 'rhein', 'Der Rhein ist rund 12.300 Kilometer lang [!1].'],
  ['changed number', 'rhein', 'Der Kölner Dom wurde 1248 begonnen [2] und 1980 vollendet [!2].'],
  [
    'changed number',
    'tour',
    'La tour Eiffel mesure 330 mètres et pèse environ 100 100 tonnes [!1].',
  ],
];

const addresses: Written[] = [
  [
    'invented address',
    'oslo',
    'Oslo is the capital of Norway [1], see {{https://visitoslo.no/en}}.',
  ],
  [
    'invented address',
    'oslo',
    'Bergen has seven mountains [2] {{(https://www.visitbergen.com/hikes)}}.',
  ],
  [
    'invented address',
    'oslo',
    'Oslo is the capital city [1]. Book at {{www.flam-tickets.com}} today!',
  ],
  [
    'invented address',
    'oslo',
    'See [the listing]{{(https://whc.unesco.org/en/list/60)}}. Rain: 200 days [2].',
  ],
  [
    'invented address',
    'battery',
    'Battery demand grew to 750 GWh [1]. ![x]{{(https://evil.example/p.png)}}',
  ],
  [
    'invented address',
    'battery',
    'Recycling recovers nickel and copper [3] {{<http://10.0.0.1/a>}}.',
  ],
  [
    'invented address',
    'battery',
    'Write to {{sales@recycler-offers.com}} about recycling copper [3].',
  ],
  [
    'invented address',
    'rhein',
    'Der Rhein mündet in die Nordsee [1], siehe {{rhein-info.de/karte}}.',
  ],
  ['invented address', 'tour', 'La tour mesure 330 mètres [1] ({{javascript:alert(1)}}).'],
];

const others: Written[] = [
  ['no mark', 'oslo', 'Oslo is the capital of Norway, and Bergen is on the west coast.'],
  ['no mark', 'battery', 'The sources do not say what a battery of that kind weighs.'],
  ['two languages', 'rhein', 'Der Rhein ist 1.230 km lang [1]. The Rhine is long and wide [!1].'],
  ['two languages', 'tour', 'La tour pèse 10 100 tonnes [1]. El acueducto tiene 167 arcos [2].'],
  ['two languages', 'beijing', '北京是中国的首都[1]。東京タワーの高さは333メートルです[3]。'],
  ['two languages', 'asia', 'Эрмитаж основан в 1764 году [3]. 경복궁은 조선의 궁궐이다 [1].'],
  ['Chinese', 'beijing', '北京市是中华人民共和国的首都[1]，全市面积为16410平方千米[1]。'],
  ['Chinese', 'beijing', '故宫建成于1420年，占地面积为72万平方米【2】。'],
  ['Chinese', 'beijing', '2020年北京的常住人口是2189万人。[1]故宫于1987年被列为世界文化遗产。[2]'],
  ['Chinese', 'beijing', '北京常住人口为2819万人[!1]。北京位于华北平原[1]。'],
  ['Chinese', 'beijing', '故宫始建于1406年[!3]，详见{{https://gugong.example.cn/piao}}。'],
];

export const written: readonly Written[] = [
  ...good,
  ...unknown,
  ...wrong,
  ...numbers,
  ...addresses,
  ...others,
];
