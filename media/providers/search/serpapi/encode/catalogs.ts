// Parameters of the engines that list products, papers and suggestions.
import { type EngineEncoder, queryOf, regionOf, startOf } from './parameters.ts';

/** It knows places of the United States alone, and refuses others. */
export const shoppingParameters: EngineEncoder = ({ query, parameters }, page) => ({
  q: queryOf(query),
  start: startOf(page),
  location: parameters.gl === null || parameters.gl === 'us' ? parameters.location : null,
  ...regionOf(parameters),
});

/** Papers have no country. */
export const scholarParameters: EngineEncoder = ({ query, parameters }, page) => ({
  q: queryOf(query),
  num: page.size,
  start: startOf(page),
  hl: parameters.hl,
});

export const autocompleteParameters: EngineEncoder = ({ query, parameters }) => ({
  q: queryOf(query),
  ...regionOf(parameters),
});
