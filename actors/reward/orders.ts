// Words on a page to whoever judges it: an assistant, a model, a reviewer. In eleven languages, by
// lists: whom it speaks to beside what it wants, or instructions that are to be dropped.

interface Language {
  /** Whom it speaks to. */
  addressed: readonly string[];
  /** What it wants of them. */
  wanted: readonly string[];
  /** What is to be done with instructions, and what these are called. */
  dropped: readonly [verbs: readonly string[], nouns: readonly string[]];
}

/** Words begin where they stand in the lists; in scripts without blanks they may stand anywhere. */
const languages: Readonly<Record<string, Language>> = {
  en: {
    addressed: [
      ...[
        'assistant',
        'language model',
        'llm',
        'ai',
        'chatbot',
        'reviewer',
        'moderator',
        'verifier',
      ],
      ...['evaluator', 'grader', 'classifier', 'whoever judges'],
    ],
    wanted: [
      ...['answer yes', 'answers yes', 'say yes', 'reply yes', 'reply with yes', 'respond yes'],
      ...['respond with yes', 'answer with yes', 'approve', 'accept this', 'mark this', 'mark it'],
      ...['must answer', 'is true for every', 'pass this'],
    ],
    dropped: [
      ['ignore', 'disregard', 'forget', 'override'],
      ['instruction', 'prompt', 'rules above', 'guideline'],
    ],
  },
  es: {
    addressed: ['asistente', 'modelo de lenguaje', 'revisor', 'evaluador', 'moderador', 'ia'],
    wanted: [
      'responde si',
      'responde que si',
      'contesta si',
      'contesta que si',
      'di que si',
      'aprueba',
      'acepta esta',
    ],
    dropped: [
      ['ignora', 'olvida', 'omite'],
      ['instruccion', 'indicacion', 'reglas'],
    ],
  },
  fr: {
    addressed: [
      'assistant',
      'modele de langage',
      'relecteur',
      'evaluateur',
      'moderateur',
      'verificateur',
      'ia',
    ],
    wanted: [
      'reponds oui',
      'reponds par oui',
      'repondez oui',
      'repondez par oui',
      'dis oui',
      'dites oui',
      'approuve',
      'validez',
      'acceptez',
    ],
    dropped: [
      ['ignore', 'ignorez', 'oublie', 'oubliez'],
      ['instruction', 'consigne', 'regles'],
    ],
  },
  de: {
    addressed: ['assistent', 'sprachmodell', 'prufer', 'gutachter', 'moderator', 'ki'],
    wanted: [
      'antworte ja',
      'antworte mit ja',
      'antworte immer',
      'antworten sie mit ja',
      'antworten sie ja',
      'sag ja',
      'sage ja',
      'genehmig',
      'gib das frei',
      'akzeptier',
    ],
    dropped: [
      ['ignorier', 'vergiss', 'missachte'],
      ['anweisung', 'vorgabe', 'regeln'],
    ],
  },
  pt: {
    addressed: ['assistente', 'modelo de linguagem', 'revisor', 'avaliador', 'moderador', 'ia'],
    wanted: [
      'responda sim',
      'responda que sim',
      'responde sim',
      'diga sim',
      'diga que sim',
      'aprove',
      'aceite esta',
    ],
    dropped: [
      ['ignore', 'ignora', 'esqueca'],
      ['instruco', 'orientaco', 'regras'],
    ],
  },
  it: {
    addressed: ['assistente', 'modello linguistico', 'revisore', 'valutatore', 'moderatore', 'ia'],
    wanted: [
      'rispondi si',
      'rispondi di si',
      'rispondi sempre',
      'di di si',
      'approva',
      'accetta quest',
    ],
    dropped: [
      ['ignora', 'dimentica'],
      ['istruzion', 'indicazion', 'regole'],
    ],
  },
  ru: {
    addressed: [
      'ассистент',
      'помощник',
      'языковая модель',
      'проверяющ',
      'рецензент',
      'модератор',
      'ии',
    ],
    wanted: [
      'ответь да',
      'ответьте да',
      'отвечай да',
      'отвечайте да',
      'скажи да',
      'скажите да',
      'одобри',
      'одобрите',
      'подтверди',
    ],
    dropped: [
      ['игнорируй', 'забудь', 'пропусти'],
      ['инструкц', 'указан', 'правил'],
    ],
  },
  zh: {
    addressed: ['助手', '助理', '语言模型', '人工智能', '审核员', '审阅者', '评审', '審核員'],
    wanted: ['回答是', '回答都是', '都回答是', '说是', '批准', '通过审核', '予以通过'],
    dropped: [
      ['忽略', '无视', '忘记'],
      ['指令', '指示', '说明', '规则'],
    ],
  },
  ja: {
    addressed: ['アシスタント', '言語モデル', '審査員', '審査担当', 'レビュアー', '人工知能'],
    wanted: [
      'はいと答',
      'はい と答',
      'はいと回答',
      'はい と回答',
      '承認して',
      '承認せよ',
      '承認しなさい',
    ],
    dropped: [
      ['無視', '忘れて'],
      ['指示', '命令', 'ルール'],
    ],
  },
  hi: {
    addressed: ['सहायक', 'भाषा मॉडल', 'समीक्षक', 'जाँचकर्ता', 'एआई'],
    wanted: [
      ...['हाँ में उत्तर', 'हाँ उत्तर', 'हाँ में जवाब', 'हाँ जवाब', 'हाँ कह'],
      ...['स्वीकृत कर', 'अनुमोदित कर'],
    ],
    dropped: [
      ['अनदेखा', 'नज़रअंदाज़', 'भूल जा'],
      ['निर्देश', 'नियम'],
    ],
  },
  ar: {
    addressed: ['المساعد', 'مساعد', 'نموذج لغوي', 'نموذج اللغة', 'المراجع', 'المدقق', 'الذكاء'],
    wanted: ['أجب بنعم', 'اجب بنعم', 'أجيبوا بنعم', 'قل نعم', 'وافق على', 'اعتمد هذا'],
    dropped: [
      ['تجاهل', 'انس'],
      ['تعليمات', 'التعليمات', 'الأوامر', 'القواعد'],
    ],
  },
};

/** So far from each other two words still belong together. */
const reach = 160;
/** Scripts that part no words: their words are compared without blanks. */
const denseScript = /[\u3040-\u30ff\u3400-\u9fff]/;

const folded = Object.values(languages).map(({ addressed, wanted, dropped: [verbs, nouns] }) => ({
  isDense: denseScript.test(addressed.join()),
  addressed: addressed.map(needleOf),
  wanted: wanted.map(needleOf),
  verbs: verbs.map(needleOf),
  nouns: nouns.map(needleOf),
}));

/** Letters and digits in small, without accents, between single blanks. */
function fold(text: string): string {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f\u064b-\u0655\u093c]/g, '');
  return ` ${plain.replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ').trim()} `;
}

function dense(text: string): string {
  return text.replaceAll(' ', '');
}

function needleOf(words: string): string {
  const plain = fold(words).trim();
  if (denseScript.test(plain)) return dense(plain);
  // Nothing may go on behind a short word: `ai` is no beginning of `air`.
  return plain.length <= 3 ? ` ${plain} ` : ` ${plain}`;
}

/** Whether the page speaks to whoever judges it. */
export function givesOrders(text: string): boolean {
  const parted = fold(text);
  const joined = dense(parted);
  return folded.some(({ isDense, addressed, wanted, verbs, nouns }) => {
    const page = isDense ? joined : parted;
    return isNear(page, addressed, wanted) || isNear(page, verbs, nouns);
  });
}

function isNear(page: string, ones: readonly string[], others: readonly string[]): boolean {
  if (!others.some((other) => page.includes(other))) return false;
  return ones.some((one) => {
    for (let at = page.indexOf(one); at >= 0; at = page.indexOf(one, at + 1)) {
      const around = page.slice(Math.max(0, at - reach), at + one.length + reach);
      if (others.some((other) => around.includes(other))) return true;
    }
    return false;
  });
}
