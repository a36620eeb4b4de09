// What a request asks a model to do, as far as routing cares. The names are part of the catalog:
// an operator may rate a model for each of them.

/**
 * `code`: write or explain a program. `debugging`: why one fails. `math`: calculate, prove.
 * `writing`: make or polish prose. `translation`: between human languages. `summarization`: make
 * shorter what is given. `extraction`: take given facts out as data, or label them. `analysis`:
 * weigh, compare, plan. `agent`: act through tools over several steps. `chat`: everything else.
 */
export const taskCategories = [
  'code',
  'debugging',
  'math',
  'writing',
  'translation',
  'summarization',
  'extraction',
  'analysis',
  'agent',
  'chat',
] as const;

export type TaskCategory = (typeof taskCategories)[number];
