// What belongs in one place of the product and is looked for in all others.
import { type Check, findInCode, findInText } from './check.ts';
import { isComposition } from './directions.ts';
import { isProduct } from './tree.ts';

export const environment: Check = {
  id: 'environment',
  rule: 'the environment is read in runtime/config.ts only',
  advice: 'take it from the configuration',
  find: ({ sources }) =>
    findInCode(
      sources.filter((file) => isProduct(file) && file.path !== 'runtime/config.ts'),
      /\bprocess\.env\b/,
    ),
};

const STATEMENTS = [
  String.raw`select\s+[\w*"].*\sfrom\s+\w`,
  String.raw`insert\s+into\s+\w`,
  String.raw`update\s+\w+\s+set\s`,
  String.raw`delete\s+from\s+\w`,
];

export const statements: Check = {
  id: 'statements',
  rule: 'SQL and database drivers are in db only',
  advice: 'move these statements to db',
  find({ sources }) {
    const files = sources.filter((file) => isProduct(file) && !file.path.startsWith('db/'));
    return [
      ...findInCode(files, new RegExp(`['"\`(\\s](${STATEMENTS.join('|')})`, 'i')),
      ...findInCode(files, /from ['"](postgres|pg)['"]/),
    ];
  },
};

export const vendors: Check = {
  id: 'vendors',
  rule: 'vendor names are in media/providers, the simulator and the configuration only',
  advice: 'the core knows no vendor',
  find: ({ sources }) =>
    findInCode(
      sources
        .filter(isProduct)
        .filter(({ path }) => !/^media\/providers\/|^runtime\/config\.ts$/.test(path)),
      /openai|anthropic|gemini|mistral|deepgram|elevenlabs|openrouter/i,
    ),
};

/** The folder of a family, and the two lists of them. */
const SEARCH_PLACES =
  /^media\/providers\/search\/((serper|searxng|tavily|serpapi)\/|(families|simulated)\.ts$)/;
const SEARCH_VENDORS = 'serper|searxng|tavily|serpapi';

export const searchVendors: Check = {
  id: 'search-vendors',
  rule: 'names of search vendors are in their folders and in the lists of families only',
  advice: 'say provider',
  find: ({ sources }) =>
    findInCode(
      sources.filter((file) => isProduct(file) && !SEARCH_PLACES.test(file.path)),
      new RegExp(SEARCH_VENDORS, 'i'),
    ),
};

const DOMAIN = '(voice|audio|generations?)';
const KERNEL_FINDINGS = [
  // A group of bounds or counters.
  String.raw`^\s*(readonly )?${DOMAIN}\??:`,
  // One that is declared here; what the configuration calls it may be read.
  String.raw`(?<![.\w])(voice|audio|generation)[A-Z]\w*(Max|Min|Ms|Bytes|Seconds|Total)\??\s*[:=]`,
  String.raw`\btollgate_(voice|audio|generations?|detached|first_event|wallet)_\w+`,
];

export const kernel: Check = {
  id: 'kernel',
  rule: 'runtime declares no bound and no counter of voice, audio or generation',
  advice: "move these to the domain's limits.ts or metrics.ts",
  find: ({ sources }) =>
    findInCode(
      sources
        .filter(({ path }) => path.startsWith('runtime/') && !isComposition(path))
        // The table of variables is whole: it is `--help`.
        .filter(({ path }) => !/^runtime\/(config|variable)/.test(path)),
      new RegExp(KERNEL_FINDINGS.join('|')),
    ),
};

export const callers: Check = {
  id: 'callers',
  rule: 'no handler narrows its caller: the type follows from its access',
  advice: 'take the type that defineRoute derives',
  find: ({ texts }) =>
    findInText(
      texts.filter(({ path }) => path.startsWith('routes/')),
      /caller.kind !== 'key'|requireAccount/,
    ),
};

export const owners: Check = {
  id: 'owners',
  rule: 'actors and db do not branch on the kind of an owner: it is a row of the table of holders',
  advice: 'move the difference to the row of the holder',
  find: ({ texts }) =>
    findInText(
      texts.filter(({ path }) => /^(actors|db)\//.test(path)),
      /ownerKind [!=]==/,
    ),
};
