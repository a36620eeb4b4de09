// Sentences of articles and chats in six languages, from parts that go together.
import type { Random } from './random.ts';

export type Language = 'en' | 'de' | 'es' | 'fr' | 'ja' | 'zh';

interface Grammar {
  subjects: string[];
  verbs: string[];
  objects: string[];
  tails: string[];
  stop: string;
  gap: string;
}

const GRAMMARS: Record<Language, Grammar> = {
  en: {
    subjects: [
      'The committee',
      'Most operators',
      'The survey',
      'A second team',
      'The regional grid',
      'Local growers',
      'The archive',
      'An earlier study',
    ],
    verbs: [
      'reported',
      'measured',
      'rejected',
      'postponed',
      'compared',
      'documented',
      'underestimated',
      'funded',
    ],
    objects: [
      'the seasonal losses',
      'a wider range of samples',
      'the cost of storage',
      'several older pipelines',
      'the figures of last winter',
      'unusual migration patterns',
      'the effect of shade on yields',
    ],
    tails: [
      'in the northern districts',
      'despite a late start',
      'for the third time',
      'with borrowed instruments',
      'before the hearing ended',
      'as the model had predicted',
      'under considerable pressure',
    ],
    stop: '. ',
    gap: ' ',
  },
  de: {
    subjects: [
      'Der Ausschuss',
      'Die Messstelle',
      'Ein zweites Team',
      'Die Gemeinde',
      'Das Archiv',
      'Der Netzbetreiber',
    ],
    verbs: ['verschob', 'prüfte', 'dokumentierte', 'unterschätzte', 'verglich', 'finanzierte'],
    objects: [
      'die jahreszeitlichen Verluste',
      'mehrere ältere Leitungen',
      'die Kosten der Lagerung',
      'ungewöhnliche Zugmuster',
      'die Zahlen des letzten Winters',
    ],
    tails: [
      'im nördlichen Bezirk',
      'trotz der späten Anfrage',
      'zum dritten Mal',
      'mit geliehenen Geräten',
      'vor dem Ende der Anhörung',
    ],
    stop: '. ',
    gap: ' ',
  },
  es: {
    subjects: [
      'El comité',
      'La estación',
      'Un segundo equipo',
      'El archivo',
      'La red regional',
      'El ayuntamiento',
    ],
    verbs: ['aplazó', 'midió', 'documentó', 'comparó', 'rechazó', 'financió'],
    objects: [
      'las pérdidas de temporada',
      'el coste del almacenamiento',
      'varias tuberías antiguas',
      'las cifras del invierno pasado',
    ],
    tails: [
      'en los distritos del norte',
      'a pesar del retraso',
      'por tercera vez',
      'con instrumentos prestados',
    ],
    stop: '. ',
    gap: ' ',
  },
  fr: {
    subjects: ['Le comité', 'La station', 'Une seconde équipe', 'Le réseau régional', 'La commune'],
    verbs: ['a reporté', 'a mesuré', 'a documenté', 'a comparé', 'a rejeté', 'a financé'],
    objects: [
      'les pertes saisonnières',
      'le coût du stockage',
      'plusieurs conduites anciennes',
      'les chiffres de l’hiver dernier',
    ],
    tails: [
      'dans les districts du nord',
      'malgré le retard',
      'pour la troisième fois',
      'avec des instruments prêtés',
    ],
    stop: '. ',
    gap: ' ',
  },
  ja: {
    subjects: ['委員会は', '観測所は', '第二の班は', '資料館は', '地域の送電網は'],
    verbs: ['延期した', '測定した', '記録した', '比較した', '却下した'],
    objects: ['季節ごとの損失を', '貯蔵の費用を', '古い配管を', '昨冬の数値を'],
    tails: ['北部の地区で', '遅れにもかかわらず', '三度目に', '借りた器具で'],
    stop: '。',
    gap: '',
  },
  zh: {
    subjects: ['委员会', '观测站', '第二小组', '档案馆', '地区电网'],
    verbs: ['推迟了', '测量了', '记录了', '比较了', '否决了'],
    objects: ['季节性损失', '储存成本', '几条旧管道', '去年冬天的数据'],
    tails: ['在北部地区', '尽管开始较晚', '已是第三次', '使用借来的仪器'],
    stop: '。',
    gap: '',
  },
};

export function sentence(random: Random, language: Language): string {
  const { subjects, verbs, objects, tails, stop, gap } = GRAMMARS[language];
  const subject = random.pick(subjects);
  const [verb, object, tail] = [random.pick(verbs), random.pick(objects), random.pick(tails)];
  // Japanese puts its verb last; elsewhere the tail may stand between.
  const words = language === 'ja' ? [subject, tail, object, verb] : [subject, verb, object, tail];
  return words.join(gap) + stop;
}

/** A paragraph with `facts` among its sentences. */
export function paragraph(random: Random, language: Language, facts: readonly string[]): string {
  const count = 5 + random.integer(6);
  const plain = Array.from({ length: count }, () => sentence(random, language));
  return random
    .shuffled([...plain, ...facts.map((fact) => `${fact} `)])
    .join('')
    .trimEnd();
}
