// Words that say nothing of what a sentence is about, in the six languages of the check: articles,
// pronouns, prepositions, conjunctions and auxiliary verbs. They have small letters, two at least.

const english = `
  about above after again all also although am among an and another any are aren as at be because
  been before being below between both but by can cannot could couldn did didn do does doesn doing
  don down during each either else ever every few for from further had hadn has hasn have haven
  having he her here hers him his how however if in into is isn it its itself just least less like
  ll many may me might more most much must my neither no nor not now of off often on once one only
  onto or other others our ours out over own per quite rather re said same says shall she should
  shouldn since so some still such than that the their theirs them then there therefore these they
  this those though through thus to too toward towards under until up upon us ve very via was wasn
  we were weren what when where whether which while who whom whose why will with within without won
  would wouldn yes yet you your yours`;

const german = `
  ab aber all alle allem allen aller alles als also am an andere anderen anderer anderes auch auf
  aus bei beim bis bzw da dabei dadurch dafür daher damit dann daran darauf daraus darin darüber das
  dass dazu dein deine dem den denen denn der deren des dessen dich die dies diese diesem diesen
  dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwa etwas euch euer
  für gegen gibt hat hatte hatten habe haben hier hin ihm ihn ihnen ihr ihre ihrem ihren ihrer im
  immer in ins ist ja je jede jedem jeden jeder jedes jedoch kann kein keine keinem keinen keiner
  können konnte könnte machen man mehr mein meine mit muss müssen nach nein nicht nichts noch nun
  nur ob oder ohne sehr sei sein seine seinem seinen seiner seit selbst sich sie sind so sogar soll
  sollen sollte somit sondern sowie über um und uns unser unter viel viele vom von vor wann war
  waren warum was weil welche welchem welchen welcher welches wenn wer werden wie wieder will wir
  wird wo wobei worden wurde wurden während zu zum zur zwar zwischen`;

const french = `
  ai ainsi alors après au aucun aucune aussi autre autres aux avait avant avec avoir car ce ceci
  cela celle celles celui ces cet cette ceux chaque chez ci comme comment dans de depuis des donc
  dont du elle elles en encore entre es est et était étaient été être eu eux fait font furent fut
  il ils je jusqu la là le les leur leurs lors lorsque lui ma mais me même mêmes mes mon ne ni nos
  notre nous on ont ou où par parce pas pendant peu peut peuvent plus plusieurs pour pourquoi puis
  qu quand que quel quelle quelles quelques quels qui quoi sa sans se selon sera seront ses si
  sinon soit son sont sous sur ta tandis te tes ton tous tout toute toutes très tu un une vers vos
  votre vous`;

const spanish = `
  al algo algunas algunos ante antes aquel aquella así aún aunque cada casi como con contra cual
  cuales cuando cuya cuyo de del desde donde dos durante el él ella ellas ellos en entre era eran
  es esa esas ese eso esos esta está están estas este esto estos fue fueron ha había han hasta hay
  la las le les lo los más me mi mientras mis mucho muchos muy nada ni no nos nosotros nuestra
  nuestro otra otras otro otros para pero poco por porque pues que qué quien quienes se sea según
  ser será si sí siempre sin sobre son su sus también tan tanto te tiene tienen toda todas todo
  todos tras tu un una unas uno unos ya`;

const italian = `
  ad agli ai al alcune alcuni alla alle allo altra altre altri altro anche ancora avere aveva
  avevano che chi ci ciò cioè coi col come con contro così cui da dagli dai dal dalla dalle dallo
  degli dei del della delle dello dentro di dopo dove due durante ecco ed era erano essere fa fino
  fra fu furono già gli ha hanno ho il in infatti io la le lei li lo loro ma mentre mi molto ne
  negli nei nel nella nelle nello noi non nostra nostro ogni oltre oppure per perché però più
  poi presso prima proprio qua quale quali quando quanto quella quelle quelli quello questa queste
  questi questo qui quindi sarà se secondo sei senza si sia siamo sono sopra sotto stata stato su
  sua sue sugli sui sul sulla sulle sullo suo suoi tra tutta tutte tutti tutto un una uno vi voi`;

const portuguese = `
  ainda algum alguma algumas alguns ao aos apenas após as às até cada com como contra da das de
  dela dele deles depois desde desse desta deste do dos durante ela elas ele eles em entre era
  eram essa essas esse esses esta está estão estas este estes eu foi foram há isso isto já lhe
  lhes mais mas mesmo meu minha muito muitos na nas nem no nos nós nossa nosso num numa não ou os
  outra outras outro outros para pela pelas pelo pelos pode podem por porque pouco qual quais
  quando quanto que quem são se seja sem ser será seu seus sob sobre sua suas só também tem têm
  tinha toda todas todo todos um uma umas uns você vocês`;

/** Chinese and Japanese have no blanks between words: these are as they are cut. */
const dense = `
  的 了 在 是 和 与 與 及 或 也 都 就 而 被 把 对 對 从 從 到 为 為 于 於 以 之 其 他 她 它 我 你
  们 們 这 這 那 个 個 有 不 很 更 最 将 將 会 會 能 可 可以 并 並 且 但 但是 因为 因為 所以 如果
  由 向 给 給 着 著 过 過 吗 吧 呢 啊 等 中 上 下 里 裡 一个 一個 一种 这个 這個 那个 这些 那些
  他们 她们 它们 我们 你们 此 该 該 则 則 约 約 は が を に で と の も や か ね よ へ から まで
  より この その あの これ それ あれ ここ そこ する した して い る た です ます だ である ある
  いる なる れる られる ない ため こと もの よう という として について において による 年 月 日`;

const all = [english, german, french, spanish, italian, portuguese, dense];

export const stopWords: ReadonlySet<string> = new Set(
  all.flatMap((list) => list.trim().split(/\s+/)),
);
