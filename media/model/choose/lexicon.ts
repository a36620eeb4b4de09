// Words that say what is asked for, in the languages that users write most. `word*` is a stem: any
// word that begins so. Three lists a category: what names the task, what goes with it, what hints.
import type { TaskCategory } from './category.ts';

interface Words {
  names: string;
  goes: string;
  hints: string;
}

const words: Record<Exclude<TaskCategory, 'agent'>, Words> = {
  code: {
    names: `refactor* implement* unittest* dockerfile regex regexp sql typescript
      javascript python golang kotlin rust haskell terraform flexbox tailwind kubernetes
      bash powershell html css pandas numpy react vue angular django flask express pytest
      webpack graphql pseudocode programm* реализу* рефактор* refactoriza* refattorizz* php
      c++ c# .net jquery node.js ruby scala swift perl matlab latex yaml dockerize* makefile
      postgres mysql sqlite`,
    goes: `code function* funktion* función* funcion* fonction* funzion* funç* функц*
      script* skript* class klasse clase classe класс* method* methode* método* méthode*
      component* komponent* api endpoint* query abfrage consulta requête* запрос* algorithm*
      algoritm* алгоритм* typescript async await boolean string* array* json csv loop*
      schleife* bucle* boucle* recursi* rekursi* compile* library* framework* repository
      commit* pull-request diff interface* generics iterator* код* коду código* codice
      snippet* middleware backend frontend css-grid migration* variable* websocket* mutex*
      semaphore* thread* linked-list hashmap* parser* lint* c go java r`,
    hints: `write schreib* escrib* écri* scriv* escrev* crea* create* crie* build generate
      helper* server* client* database* datenbank* table tabelle* tabla app docker git node
      module* package* file datei* fichier* archivo* performance faster optimize* review*
      test tests объясн* напиши`,
  },
  debugging: {
    names: `debug* traceback* stacktrace* segfault* nullpointer* crash* absturz* abstürz*
      stürzt plante planta bug bugs troubleshoot* typeerror valueerror keyerror indexerror
      nameerror syntaxerror referenceerror attributeerror importerror runtimeerror deadlock*
      baisse ошибк* падает вылетает утечк* crashloop* eresolve cors hängt freeze* freezes
      bloquea blocca`,
    goes: `error errors fehler* erreur* erreurs errore* errores erro erros exception*
      excepción* fails failing failed fail failure* broken breaks broke wrong kaputt stuck
      hangs timeout* leak* fix repair* fixing cause ursache* reason* undefined nan warning*
      rejected denied blocked unexpected marche fout fouten foutmelding błąd błędu hata
      hatası memory-leak unable cannot infinite endlos* infini* infinit* segmentation
      permission`,
    hints: `why warum pourquoi perché waarom почему porque woran dlaczego neden happen*
      works worked working funktioniert funciona fonctionne funziona doesn't don't isn't
      won't can't nothing suddenly plötzlich issue* problem* problema* problème* log logs
      stack upgrade since locally`,
  },
  math: {
    names: `integral* integrate* derivative* ableitung* dérivée* derivad* derivat*
      equation* gleichung* ecuaci* équation* equazion* equaç* уравнен* производн* интеграл*
      eigenvalue* eigenwert* determinant* probabilit* wahrscheinlichkeit* probabilidad*
      вероятност* prove beweis* démontre* demuestr* dimostr* prova доказ* докаж* theorem*
      factorial* logarithm* polynom* matrix matrices matrice* matriz quadratic* prime
      primzahl* fraction* divisib* modulo arithmetic* algebra* geometr* trigonomet* calculus
      hypotenuse* permutation* combinatoric* irrational* integer*`,
    goes: `solve* löse resuelve résou* risolv* resolva реши calculate* calculer calcule
      calcola* calcul* berechne* bereken compute* вычисли* посчита* hesapla oblicz sum summe
      average mean median variance deviation percent percentage prozent porcentaje
      pourcentage triangle* dreieck* circle* radius volume* área area perimeter* umfang
      limit* limite square squared cube* root* racine wurzel* sine cosine tangent angle*
      converge* vector* simplif* odds interest compounded equals abelian`,
    hints: `many much number* numbers zahl* nombre* número* times each total half double
      twice left distance speed km km/h reasoning step digits probability evaluate* find
      show marbles dice coins age years rate meters`,
  },
  writing: {
    names: `poem* gedicht* poema* poème* poesi* стих* haiku* limerick* sonnet* ballad*
      story geschichte* historia cuento* histoire* рассказ* essay* aufsatz* ensayo* essai*
      speech rede geburtstagsrede* discurso* discours discorso речь toast* slogan* tagline*
      proofread* korrekturles* rewrite* rephrase* paraphras* reformul* umformulier*
      formulier* redact* rédige* redig* draft* entwurf* entwirf verfass* copywrit* blogpost*
      newsletter* lyrics song* liedtext* dialog* monolog* screenplay* reword* polish* письмо
      letter brief carta lettre lettera email e-mail mail correo bedankbrief* zaproszenie
      piosenk* wiersz* mektup şiir ghostwrit* eulog* fairytale* märchen*`,
    goes: `write schreib* escrib* écri* scriv* escrev* napisz напиши сочини schrijf yaz
      compose* caption* post linkedin instagram tweet* press-release description* grammar*
      grammatik* grammaire spelling rechtschreib* corrig* korrigier* correct tone tonfall
      tono ton style stil estilo formal* informal* polite* höflich* professional*
      persuasive* catchy playful* funny humor* witty apolog* entschuldig* disculpa* excuse*
      invitation* einladung* invitaci* resign* kündig* renuncia complain* beschwerde*
      cover-letter anschreiben bewerbung* introduction* paragraph* absatz* sentence* chorus
      rhym* reim* fiction* character* punchy* punchier* headline* subject-line flow`,
    hints: `words wörter palabras mots short kurz* nice better besser mejor improve*
      verbesser* about thank* dank* birthday* geburtstag* wedding* hochzeit* boda mariage
      colleague* team customer* announc* announcing version make text texto texte testo
      текст`,
  },
  translation: {
    names: `translat* übersetz* traduc* tradui* traduz* tradurr* traduire traduis перевед*
      перевод* перевест* vertaal* vertaling* przetłumacz* tłumacz* çevir* tercüme* översätt*
      oversett* oversæt* käännä přelož* localiz* localis* lokalisier* ترجم* अनुवाद*
      back-translat* dịch`,
    goes: `english englisch* inglés inglese anglais* inglês английск* engels angielski*
      ingilizce* german deutsch* alemán tedesco allemand* alemão немецк* duits niemiecki*
      almanca french französisch* francés francese français* francês французск* frans
      spanish spanisch* español* spagnolo espagnol* espanhol испанск* spaans italian
      italienisch* italiano italien* итальянск* portuguese portugiesisch* portugués
      portugais* português japanese japanisch* japonés japonais* chinese chinesisch* chino
      chinois* mandarin korean koreanisch* coreano coréen* russian russisch* ruso russe*
      русск* dutch niederländisch* arabic arabisch* árabe arabe* polish polski* turkish
      türkçe* swedish schwedisch* danish norwegian finnish greek hindi latin hebrew
      ukrainian`,
    hints: `say sagt dice dit-on heißt heisst means meaning phrase* sentence* satz frase*
      phrase word wort palabra mot into ins auf register idiom* version native`,
  },
  summarization: {
    names: `summar* zusammenfass* zusammen* resum* résum* riassum* riassunt* résumé*
      sintesi* synthèse* síntesis sintet* condense* tl;dr tldr abstract gist recap*
      takeaway* samenvat* streść streszcz* özet* изложен* суммир* резюмир* конспект* kürze
      kürz* digest distill* distil boil* sammanfatta vat outline* nutshell overview*
      kernaussage* quintessenz*`,
    goes: `fasse shorten* abridge* points punkte* puntos bullet* highlights key main
      wichtigst* principales principaux principali brief briefly kurz* краткое кратко
      kurzfassung* essential* essence* transcript* protokoll* acta compte-rendu executive
      tweet lines lignes líneas righe zeilen themes`,
    hints: `article* artikel* artículo* articol* articl* text texto texte testo текст*
      report* bericht* informe* rapport* meeting reunión réunion* minutes chapter* kapitel*
      capítulo* chapitre* notes thread conversation* email document* paper* findings short
      sentences sätze* frases phrases zinnen below following folgenden siguiente suivant*
      seguente paragraph lecture book changes`,
  },
  extraction: {
    names: `extract* extrah* extrais extrae* estrai* extrai* izvle* извлек* классифиц*
      classif* clasific* klassifi* kategorisier* categoriz* categoris* label* sentiment*
      named-entit* entities entity parse* annotat* tag ner anonymiz* redact-pii wyodrębnij
      çıkar* spam toxic* tokenize* dedupe* ordne einordne* zuordne* etiquet*`,
    goes: `json csv table tabelle* tabla tableau tabella таблиц* fields felder campos
      champs campi columns spalten columnas colonnes emails addresses adressen names namen
      nombres noms nomi dates daten datumsangab* fechas datas numbers nummern números номера
      phone* telephone* invoice* rechnung* factura* facture* fattura* prices preise precios
      prix prezzi amount* importe* montant* positive negative neutral list liste lista
      identify identifizier* identifi* pull haal uit categories kategorie* keys key schema
      structured iso plaatsnamen entities person organization* skills match tabular ticket*
      language`,
    hints: `following text texto texte testo текст* below from aus return* gib give reply
      answer only word each alle all every distinct review* tweet* comment* message*
      receipt* resume note log logs turn convert* get row rows yes/no format* sentence parts
      product* quantity`,
  },
  analysis: {
    names: `compar* vergleich* vergelijk* confront* срави* сравн* analyz* analys* analis*
      analiz* анализ* проанализ* evaluat* bewert* evalúa* évalu* valut* оцени* assess*
      tradeoff* trade-off* trade-offs pros vorteil* ventaja* avantage* vantaggi* vantagen*
      преимуществ* swot strateg* стратег* critiqu* kritisier* weigh abwäg* abwog*
      implications implikation* pro-contra interpret* examine* untersuch* nadel* voordel*
      forecast* prognos* beurteil* porówn* karşılaştır* kıyasla`,
    goes: `cons nachteil* desventaja* inconvénient* svantaggi* desvantagen* недостат*
      versus vs vs. recommend* empfehl* recomiend* recommand* consigli* consider* decide*
      decision* entscheid* choose better should risk* risiko* riesgo* risque* rischi* риск*
      mitigat* impact* auswirkung* impacto* consequenc* folgen effect* effekt* factor*
      faktor* factores facteurs cause causes ursachen trend* argument* evidence hypothes*
      methodolog* roadmap plan planning phase* phases market markt mercado marché business
      ethical* ethics strengths weaknesses сильные слабые root-cause advantage*
      disadvantage* opportunit* conclusion* outcome* predict* themes option* offers bilan`,
    hints: `why warum which welche* migration team company unternehmen empresa entreprise*
      costs kosten long-term growth policy think through switch moving move invest* data
      results numbers explain structured lease buy advice advies`,
  },
  chat: {
    names: `hi hello hey hallo hola salut bonjour ciao olá привет moin servus thanks thank
      danke gracias merci grazie obrigad* спасибо bedankt dzięki teşekkür* joke* witz*
      chiste* blague* recommend yo sup morning morgen bye goodbye tschüss adiós cheers`,
    goes: `who wer quién qui chi кто where wo dónde où dove где capital hauptstadt* tell
      erzähl* cuénta* raconte* feel feeling think favorite favourite lieblings* invented
      invention president population mountain* river* ocean* planet* animal* recipe* rezept*
      cook kochen cocinar cuisiner history weather visit besuchen visitar you dein du tu
      safe healthy name opinion believe talk chat friend* weekend movie* film* music* book*
      novel* game* tall old cats dogs pronounce* heat`,
    hints: `what was qué que quoi cosa что how wie cómo comment come как when wann cuándo
      quand quando когда wat hoe co jak ne nasıl is are does do can explain mean means long
      good best difference* unterschied* diferencia* différence* work works usually today
      heute hoy remember`,
  },
};

/** Tasks through tools: they count only where a request has tools. */
export const actionWords = `
  book* buche* reserv* réserv* prenot* send* schick* sende manda* mánda* envoi* envía* envie
  invia* отправ* schedul* plan remind* erinner* recuérda* rappel* ricorda* order* bestell*
  pide command* ordina* закажи cancel* stornier* annul* delete* lösch* elimin* supprim* удали
  create* erstell* crea crée* turn schalt* enciend* allum* accend* set stell* zet включи
  выключи search* such* busca* cherche* cerca* найди find* look open* öffne* ouvre* abre*
  apri* run* execut* ausführ* deploy* commit* push* rename* move* verschieb* update*
  aktualisier* transfer* überweis* pay* zahl* refund* check* prüf* play* spiel* post* assign*
  weise upload* download* install* fix* edit* change* add* marque marca* yes ja sí oui go
  continue weiter proceed current aktuell* actual* latest now tomorrow morgen mañana demain
  domani завтра today heute meetings`;

export type WeighedCategory = Exclude<TaskCategory, 'agent'>;
export type Weights = Partial<Record<WeighedCategory, number>>;

const strengths = { names: 3, goes: 1.5, hints: 0.5 } as const;
/** From here on a word names its task by itself. */
export const namedStrength = strengths.names;

/** What people begin with before they say what they want. */
export const polite: ReadonlySet<string> = new Set(
  entriesOf(`please can could would you i we need want like to me a an the some now then so ok okay
    hi hey hello bitte kannst könntest du mir ich brauche möchte ein eine einen por favor puedes
    podrías necesito quiero un una me s'il te vous plaît peux-tu pouvez-vous je veux voudrais il
    pouvez peux mi puoi per favore pode poderia eu kun je kunt u help just quickly`),
);

export interface Lexicon {
  exact: ReadonlyMap<string, Weights>;
  stems: ReadonlyMap<string, Weights>;
  stemLengthMin: number;
  stemLengthMax: number;
}

function buildLexicon(): Lexicon {
  const exact = new Map<string, Weights>();
  const stems = new Map<string, Weights>();
  for (const [category, lists] of Object.entries(words) as [WeighedCategory, Words][]) {
    for (const [kind, strength] of Object.entries(strengths) as [keyof Words, number][]) {
      for (const entry of entriesOf(lists[kind])) {
        const isStem = entry.endsWith('*');
        const target = isStem ? stems : exact;
        const word = isStem ? entry.slice(0, -1) : entry;
        const weights = target.get(word) ?? {};
        weights[category] = Math.max(weights[category] ?? 0, strength);
        target.set(word, weights);
      }
    }
  }
  const lengths = [...stems.keys()].map((stem) => stem.length);
  return {
    exact,
    stems,
    stemLengthMin: Math.min(...lengths),
    stemLengthMax: Math.max(...lengths),
  };
}

export function entriesOf(list: string): string[] {
  return list.trim().split(/\s+/);
}

export const lexicon = buildLexicon();
