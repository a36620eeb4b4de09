// What a provider takes of a JSON Schema, as far as providers differ.
import type { PatternDialect } from './patterns.ts';

export interface SchemaRules {
  patterns: PatternDialect;
  /** A list must say what is in it. */
  needsItems: boolean;
  /** No more than the subset of `subset.ts` is taken; references and `allOf` are written out. */
  isSubset: boolean;
}
