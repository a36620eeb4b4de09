// Shapes and phrases that say more than single words: code, stack traces, equations; and the words
// of scripts that are written without spaces. Each is a regular expression without nested repeats,
// so that a hostile text costs no more than any other.
import type { WeighedCategory } from './lexicon.ts';

interface Signal {
  category: WeighedCategory;
  weight: number;
  pattern: RegExp;
}

/** One expression of several, so that each stands on a line. */
export function oneOf(alternatives: readonly RegExp[], flags = ''): RegExp {
  return new RegExp(alternatives.map(({ source }) => source).join('|'), flags);
}

/** An expression that is longer than a line: breaks and what indents them are no part of it. */
function long(source: string): RegExp {
  return new RegExp(source.replace(/\n\s*/g, ''));
}

/** Looked for in the whole excerpt, content included. */
export const shapes: readonly Signal[] = [
  { category: 'code', weight: 2, pattern: /```/ },
  { category: 'code', weight: 1, pattern: /`[^`\n]{2,80}`/ },
  {
    category: 'code',
    weight: 2.5,
    pattern: /[;{}]\s*(?:\n|$)|=>|\(\)|<\/?[a-z]+[ >]|^\s*#include/m,
  },
  {
    category: 'code',
    weight: 2.5,
    pattern: oneOf([
      /\b(?:def|class|function|const|let|import|return|public|void|func|fn)\s+[\w({[]/,
    ]),
  },
  {
    category: 'code',
    weight: 3,
    pattern: /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE)\b/,
  },
  { category: 'code', weight: 1, pattern: /(?:===|!==|\+\+|&&|\|\||::|->)/ },
  {
    category: 'code',
    weight: 2,
    pattern: /\bin (?:c|go|java|r|rust|python|php)\b|\b(?:to|in) Go\b/i,
  },
  {
    category: 'debugging',
    weight: 5,
    pattern: oneOf(
      [
        /Traceback \(most|^\s+at [\w.$]+\(|\bpanic: |error\[E\d+\]|npm ERR|core dumped/,
        /goroutine \d/,
      ],
      'm',
    ),
  },
  {
    category: 'debugging',
    weight: 4,
    pattern: oneOf([
      /\b\w*(?:Error|Exception|error code|exit code)\b(?::|\s+\d| when| si | wenn | if )/,
    ]),
  },
  {
    category: 'debugging',
    weight: 4,
    pattern: oneOf([
      /\b\w+(?:Error|Exception)\b|\bFAIL\b|\bERR!|\berror:\s/,
      /\b(?:error|erreur|Fehler) [45]\d\d\b/,
    ]),
  },
  { category: 'debugging', weight: 2, pattern: /\bis (?:undefined|not a function|not defined)\b/ },
  { category: 'math', weight: 4, pattern: /\d\s*[*×÷^]\s*[\d(a-z]|\d\s[+/-]\s\d|\b[a-z]\^\d|\d!/ },
  {
    category: 'math',
    weight: 3,
    pattern: /\b\d*[a-z](?:\^\d)?\s*[+=-]\s*\d*[a-z]?[\d(]?[^=>]{0,60}=\s*-?\d/,
  },
  {
    category: 'math',
    weight: 4,
    pattern: /\d\s?% (?:of|de|von|di|van)\b|\bf\(x\)|\by = |√|∫|∑|≤|π|\\frac/,
  },
  { category: 'math', weight: 3, pattern: /\[\[-?\d+(?:\.\d+)?\s*,/ },
];

/** Something is not as it should be. */
export const complaint = oneOf([
  /\b(?:wrong|error|errors|fails?|broken?|stuck|crash\w*)\b/i,
  /\b(?:NaN|undefined|unsupported|nothing|never)\b/i,
  /\b(?:doesn't|isn't|won't|can't) |can't figure|figure out why|expected .{1,30} (?:but|before)/i,
  /\b(?:mal|erro|errore|erreur|fehler|falsch|nada|nie|mai)\b/i,
  /\b(?:jamais|errado|fout|errori|erros|fehlt)\b/i,
  /не работает|funktioniert .{0,40}nicht|no funciona/i,
  /ne (?:fonctionne|marche) pas|n[oã]n? fun(?:ziona|ciona)/i,
]);

/** Looked for where the instruction is. In lower case. */
export const phrases: readonly Signal[] = [
  {
    category: 'debugging',
    weight: 3.5,
    pattern: oneOf([
      long(String.raw`(?:why (?:do|does|is|am|are|did|won't|can't)|warum|pourquoi|por qué|porque|
        perché|waarom|почему)\b.{0,40}(?:error|fehler|erreur|not work|nicht|
        ne .{1,20} pas|no funciona|get |krij|fail|crash|утечк|work|run)`),
    ]),
  },
  { category: 'debugging', weight: 4, pattern: /(?:find|spot|where is|fix) (?:the|this|my|a) bug/ },
  {
    category: 'debugging',
    weight: 3,
    pattern: oneOf([
      /^fix this|figure out why|what(?:'s| is) (?:wrong|going on)|qué está mal/,
      /was ist falsch|doesn't work|not working|passes locally|worked yesterday/,
      /since the upgrade|off by (?:one|a)|(?:why|warum|pourquoi) (?:doesn't|isn't|won't|is my)/,
    ]),
  },
  {
    category: 'math',
    weight: 3,
    pattern: /(?:solve|löse|resuelve|résous|risolvi) (?:for|the eq|el sis)/,
  },
  {
    category: 'math',
    weight: 3,
    pattern: /show that|prove that|sample size|confidence interval|step by step/,
  },
  {
    category: 'writing',
    weight: 3,
    pattern: oneOf([
      long(`(?:cover letter|press release|subject line|product description|blog post|
        thank.you note|in the style of|more professional|sound more|finish (?:this|
        the) story|fix the grammar)`),
    ]),
  },
  {
    category: 'writing',
    weight: 2.5,
    pattern: oneOf([
      long(String.raw`(?:write|draft|compose|give me) (?:a|an|me|the|some)?\s?(?:short |funny |
        \d+.word )?(?:poem|story|email|letter|speech|post|song|text|note|essay|haiku|
        apology|dialogue|summary email)`),
    ]),
  },
  {
    category: 'translation',
    weight: 5,
    pattern: oneOf([
      /how (?:do|would|can) (?:you|i|we) say/,
      long(`(?:wie sagt man|was heißt|comment dit-on|comment dire|cómo se dice|
        come si dice|como se diz|hoe zeg je|как сказать)`),
    ]),
  },
  {
    category: 'translation',
    weight: 4,
    pattern: oneOf([
      long(String.raw`\b(?:to|into|in|ins|auf|al|en|au|para o|naar het|na|на)\s(?:english|german|
        french|spanish|italian|portuguese|japanese|chinese|korean|arabic|dutch|russian|
        polish|turkish|swedish|deutsche?|englische?|französische?|spanische?|inglés|
        español|anglais|allemand|français|espagnol|engels|polski|английский)\b`),
    ]),
  },
  {
    category: 'translation',
    weight: 3,
    pattern: oneOf([
      /(?:english|german|french|spanish) (?:to|into) |what does .{1,40} mean in/,
      /(?:the|a) \w+ version of this/,
    ]),
  },
  {
    category: 'summarization',
    weight: 4,
    pattern: oneOf([
      /too long,? didn't|tl;?dr|key (?:points|takeaways|findings)/,
      /main (?:points|ideas)|executive summary|short version|the gist/,
      /in (?:a|one|two|three|five|\d+) (?:sentences?|bullet points|lines)/,
      /boil .{1,60} down|do i (?:absolutely )?need to know|wichtigsten punkte/,
      /puntos principales|points? (?:clés|essentiels)/,
      /(?:fasse|vat) .{0,60}(?:zusammen|samen)/,
    ]),
  },
  {
    category: 'extraction',
    weight: 3.5,
    pattern: oneOf([
      long(String.raw`(?:as|in|to|into|en|als|en formato|im format) (?:a )?(?:json|csv|table|tabla|
        tabelle|una tabella)\b`),
      /json (?:array|object)|return only|reply with|one word\b|yes\/no/,
      /list (?:every|all|the distinct)|pull out|named entit|parts of speech/,
      /get me (?:the|all)|tag the|match each|with one of|which language is/,
    ]),
  },
  { category: 'extraction', weight: 2, pattern: /positive|negativ|names?, |name, email|spam/ },
  {
    category: 'analysis',
    weight: 4,
    pattern: oneOf([
      /pros and cons|pro(?:s)? (?:und|e i|y|et) contra|advantages and/,
      /vor- und nachteile|ventajas y|avantages et|pro e i contro|voor- en nadelen/,
      /trade-?offs?|second-order|root cause analysis|five whys|for and against/,
      /strategic|which would you|which (?:of these|one should)|should (?:i|we|our)\b/,
      /think through|what (?:trends|patterns|conclusions)|do a swot|go-to-market/,
    ]),
  },
  {
    category: 'chat',
    weight: 3,
    pattern: oneOf([
      long(String.raw`^(?:hi|hello|hey|hallo|hola|salut|bonjour|ciao|olá|привет|good morning|guten|
        buenos|thanks|thank you|merci|danke|gracias)\b`),
    ]),
  },
  {
    category: 'chat',
    weight: 2,
    pattern: oneOf([
      long(String.raw`^(?:what(?:'s| is| are)|who|where|when|how do(?:es)?|wer|wo|wann|qui|quién|
        dónde|tell me|is it|do you|can you recommend|c'est quoi|quel|qual|qué|co to)\b`),
    ]),
  },
  {
    category: 'chat',
    weight: 3,
    pattern: oneOf([
      /tell me (?:a|about)|what do you think|to a (?:five|ten|\d+).year|history of/,
      /what does the word|what would you do|i feel|just (?:talk|want)/,
    ]),
  },
];

/** Scripts without spaces between words. */
export const unspaced = /[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/;

export const unspacedSignals: readonly Signal[] = [
  {
    category: 'code',
    weight: 3,
    pattern: oneOf([
      /代码|编程|函数|爬虫|脚本|程序|接口|实现|コード|関数|プログラム|実装|スクリプト|テスト|코드|함수|프로그램|스크립트|구현|파이썬/,
    ]),
  },
  {
    category: 'debugging',
    weight: 4.5,
    pattern: oneOf([
      /报错|错误|崩溃|调试|异常|没有输出|找出问题|不工作|死循环|エラー|バグ|動かない|落ちる|デバッグ|原因は|오류|에러|버그|디버그|무한 루프/,
      /왜 이 코드|안 돼|작동하지/,
    ]),
  },
  {
    category: 'math',
    weight: 4,
    pattern: oneOf([
      /方程|求解|计算|面积|周长|概率|证明|积分|导数|矩阵|固有値|行列|計算|積分|微分|確率|面積|証明|방정식|계산|넓이|확률|증명|적분|미분/,
      /행렬/,
    ]),
  },
  {
    category: 'writing',
    weight: 3.5,
    pattern: oneOf([
      /写一(?:首|篇|封|个故事)|写(?:一)?封|作文|诗|绝句|辞职信|润色|演讲|故事|邮件|メールを書|手紙|詩|物語|小説|作文|써 ?주세요|편지/,
      /시를|이야기|축사|글을 써/,
    ]),
  },
  {
    category: 'translation',
    weight: 5,
    pattern:
      /翻译|译成|用(?:中文|英文|日语|英语)怎么说|怎么说|訳し|翻訳|英訳|和訳|번역|영어로|한국어로/,
  },
  {
    category: 'summarization',
    weight: 5,
    pattern: /总结|概括|摘要|概述|要点|要約|まとめ|요약|정리해/,
  },
  {
    category: 'extraction',
    weight: 4.5,
    pattern: /提取|抽取|分类|情感|判断这条|标注|返回json|抜き出|抽出|分類|추출|분류|감정/i,
  },
  {
    category: 'analysis',
    weight: 4,
    pattern:
      /分析|比较|利弊|优缺点|优势|评估|预测|策略|对比|比較|メリット|評価|検討|비교|분석|장단점|평가|전략|추천해/,
  },
  {
    category: 'chat',
    weight: 2,
    pattern: oneOf([
      /你好|谢谢|您好|你是谁|叫什么|哪座|哪里|是什么|おすすめ|こんにちは|教えて|ありがとう|とは|안녕|고마|어디|누구|뭐야|알려/,
    ]),
  },
];

/** Acting through tools, in those scripts. */
export const unspacedActions =
  /查一下|帮我(?:查|订|发|买|预)|预订|发送|打开|关闭|予定|予約|送って|入れて|開いて|消して|알려|예약|보내|켜|꺼|찾아/;
