// References to characters, as HTML writes them. The names are those of HTML 4 and of the marks of
// ASCII. A table costs the same whatever is asked of it.
import { parseFragment } from 'parse5';

const names = [
  'amp AMP lt LT gt GT quot QUOT apos nbsp iexcl cent pound curren yen brvbar sect uml copy COPY',
  'ordf laquo not shy reg REG macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm',
  'raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave',
  'Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times',
  'Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig',
  'ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde',
  'ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml fnof Alpha Beta Gamma Delta',
  'Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho Sigma Tau Upsilon Phi Chi Psi',
  'Omega alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho',
  'sigmaf sigma tau upsilon phi chi psi omega thetasym upsih piv bull hellip prime Prime oline',
  'frasl weierp image real trade alefsym larr uarr rarr darr harr crarr lArr uArr rArr dArr hArr',
  'forall part exist empty nabla isin notin ni prod sum minus lowast radic prop infin ang and or',
  'cap cup int there4 sim cong asymp ne equiv le ge sub sup nsub sube supe oplus otimes perp sdot',
  'lceil rceil lfloor rfloor lang rang loz spades clubs hearts diams OElig oelig Scaron scaron',
  'Yuml circ tilde ensp emsp thinsp zwnj zwj lrm rlm ndash mdash lsquo rsquo sbquo ldquo rdquo',
  'bdquo dagger Dagger permil lsaquo rsaquo euro Tab NewLine excl num dollar percnt lpar rpar ast',
  'plus comma period sol colon semi equals quest commat lsqb lbrack bsol rsqb rbrack Hat lowbar',
  'grave lcub lbrace verbar vert rcub rbrace',
];

/** What each stands for is the parser's to know. */
const characters = new Map(
  names.flatMap((line) => line.split(' ')).map((name): [string, string] => [name, parsed(name)]),
);
/** What browsers read for 128 to 159 (WHATWG HTML, 13.2.5.80). */
const windows = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const reference = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,9}));/gi;

function parsed(name: string): string {
  const [node] = parseFragment(`&${name};`).childNodes;
  return node !== undefined && 'value' in node ? node.value : '';
}

/** In one pass: what comes of it is not looked at again. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(reference, (whole, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return characters.get(name) ?? whole;
    return characterOf(decimal === undefined ? Number(`0x${hexadecimal}`) : Number(decimal));
  });
}

function characterOf(code: number): string {
  if (code >= 0x80 && code < 0xa0) return windows.charAt(code - 0x80);
  return code > 0x10_ffff ? '' : String.fromCodePoint(code);
}
