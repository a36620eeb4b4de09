// Pages that the written answers cite, by topic. Each is what a search would give.
import type { GroundingSource } from '../../../../media/model/grounding/contract.ts';

export const pages = {
  oslo: [
    {
      title: 'Oslo - Wikipedia',
      url: 'https://en.wikipedia.org/wiki/Oslo',
      text:
        'Oslo is the capital and most populous city of Norway. It was founded as a city at ' +
        'the end of the Viking Age in 1040 under the name Ánslo. The municipality of Oslo ' +
        'had a population of 709,037 in 2022, while the population of the greater urban area ' +
        'was 1,064,235.',
    },
    {
      title: 'Bergen travel guide',
      url: 'https://www.visitbergen.com/about-bergen',
      text:
        'Bergen lies on the west coast of Norway and is surrounded by seven mountains. The ' +
        'wharf Bryggen is a UNESCO World Heritage Site. It rains on about 200 days of the ' +
        'year. See also https://whc.unesco.org/en/list/59 for the listing.',
    },
    {
      title: 'Flåm Railway',
      url: 'https://www.norwaytrains.example/flam',
      text:
        'The Flåm Railway climbs 866 metres over a length of 20.2 km between Flåm and ' +
        'Myrdal. The journey takes about one hour, and the steepest gradient is 5.5 percent. ' +
        'The line was opened on 1 August 1940.',
    },
  ],
  battery: [
    {
      title: 'Global electric car sales rise again',
      url: 'https://news.example.com/ev-sales-2023',
      text:
        'Nearly 14 million electric cars were sold in 2023, a rise of 35% on the year ' +
        'before. China accounted for 60% of registrations, Europe for 25% and the United ' +
        'States for 10%. Battery demand grew to 750 GWh.',
    },
    {
      title: 'What lithium-ion packs cost',
      url: 'https://research.example.org/packs?year=2023',
      text:
        'The average price of a lithium-ion battery pack fell by 14 percent to $139 per ' +
        'kilowatt-hour in 2023. Analysts expect prices to reach $113 in 2025 and $80 in ' +
        '2030. Lithium carbonate prices dropped sharply as new mines opened.',
    },
    {
      title: 'Recycling of batteries',
      url: 'https://www.recycler.example/how',
      text:
        'A recycling plant shreds used batteries and recovers nickel, cobalt and copper from ' +
        'the black mass. Hydrometallurgical processes recover up to 95 percent of the ' +
        'metals. The plant in Nevada opened on October 12, 2022 and cost 1.2 billion dollars.',
    },
  ],
  rhein: [
    {
      title: 'Rhein – Flusslauf und Länge',
      url: 'https://de.example.org/rhein',
      text:
        'Der Rhein ist rund 1.230 Kilometer lang und entspringt in den Schweizer Alpen. Er ' +
        'mündet bei Rotterdam in die Nordsee. Am Rheinfall bei Schaffhausen stürzen im ' +
        'Sommer 600.000 Liter Wasser pro Sekunde in die Tiefe.',
    },
    {
      title: 'Kölner Dom',
      url: 'https://www.dom.example.de/geschichte',
      text:
        'Der Bau des Kölner Doms begann im Jahr 1248 und wurde erst 1880 vollendet. Die ' +
        'Türme sind 157 Meter hoch. Am 3. Dezember 1996 wurde der Dom in die Liste des ' +
        'Welterbes aufgenommen. Etwa 6 Mio. Besucher kommen jedes Jahr.',
    },
  ],
  tour: [
    {
      title: 'La tour Eiffel en chiffres',
      url: 'https://www.tour.example.fr/chiffres',
      text:
        'La tour Eiffel mesure 330 mètres de haut et pèse environ 10 100 tonnes. Elle a été ' +
        'construite par Gustave Eiffel pour l’Exposition universelle de 1889. Près de 7 ' +
        'millions de visiteurs montent chaque année dans la tour.',
    },
    {
      title: 'El acueducto de Segovia',
      url: 'https://turismo.example.es/acueducto',
      text:
        'El acueducto de Segovia fue construido por los romanos a comienzos del siglo II. ' +
        'Tiene 167 arcos de granito y una altura máxima de 28,10 metros. La ciudad vieja es ' +
        'Patrimonio de la Humanidad desde 1985.',
    },
    {
      title: 'Il Colosseo e il ponte Vasco da Gama',
      url: 'https://viaggi.example.it/colosseo',
      text:
        'Il Colosseo poteva contenere tra 50.000 e 75.000 spettatori e fu inaugurato da Tito ' +
        'nell’anno 80. A ponte Vasco da Gama em Lisboa tem 17,2 quilómetros de comprimento e ' +
        'foi inaugurada em 29 de março de 1998.',
    },
  ],
  beijing: [
    {
      title: '北京市 - 维基百科',
      url: 'https://zh.wikipedia.org/wiki/北京市',
      text: '北京市是中华人民共和国的首都，位于华北平原的北部。全市面积16410平方千米，2020年常住人口为2189万人。北京有三千多年的建城史，是六朝古都。',
    },
    {
      title: '故宫博物院',
      url: 'https://www.dpm.example.cn/about',
      text: '故宫始建于明永乐四年（1406年），建成于永乐十八年（1420年）。故宫占地面积72万平方米，现有房屋9000余间。1987年，故宫被列为世界文化遗产。',
    },
    {
      title: '東京タワーの基本情報',
      url: 'https://www.tower.example.jp/info',
      text: '東京タワーは1958年12月23日に完成した電波塔で、高さは333メートルです。展望台は150メートルと250メートルにあります。年間およそ300万人が訪れます。',
    },
  ],
  asia: [
    {
      title: '경복궁 안내',
      url: 'https://palace.example.kr/guide',
      text: '경복궁은 1395년에 태조 이성계가 세운 조선 왕조의 궁궐이다. 임진왜란 때 불에 탔으며 1867년에 다시 지어졌다. 입장료는 3,000원이다.',
    },
    {
      title: 'ताजमहल',
      url: 'https://taj.example.in/hi',
      text:
        'ताजमहल आगरा में यमुना नदी के किनारे स्थित एक सफ़ेद संगमरमर का मकबरा है। इसका ' +
        'निर्माण १६३२ में शाहजहाँ ने शुरू करवाया था। १९८३ में इसे यूनेस्को विश्व धरोहर घोषित ' +
        'किया गया।',
    },
    {
      title: 'Эрмитаж и الأهرام',
      url: 'https://museum.example.ru/hermitage',
      text:
        'Государственный Эрмитаж основан в 1764 году императрицей Екатериной II. В коллекции ' +
        'музея более трёх миллионов произведений искусства. يبلغ ارتفاع الهرم الأكبر في ' +
        'الجيزة ١٣٨ مترا وبني في عهد الملك خوفو.',
    },
  ],
} satisfies Record<string, GroundingSource[]>;

export type Topic = keyof typeof pages;
