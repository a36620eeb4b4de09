// Every check, in the order in which they are told. Read this first.
import {
  callers,
  environment,
  kernel,
  owners,
  searchVendors,
  statements,
  vendors,
} from './boundaries.ts';
import type { Check } from './check.ts';
import { circlesByType, circlesByValue } from './circles.ts';
import { inheritance } from './classes.ts';
import { direction, entries, simulator } from './directions.ts';
import { documentLines, documentSentences } from './documents.ts';
import { commentFragments } from './fragments.ts';
import { lockFile } from './lock.ts';
import {
  barrels,
  defaultExports,
  fileNames,
  machinePaths,
  migrations,
  postponed,
  untyped,
} from './names.ts';
import { nouns } from './nouns.ts';
import { outbound } from './outbound.ts';
import { namedPaths } from './paths.ts';
import { wholeServices } from './services.ts';
import {
  fileLength,
  fileLengths,
  folderSize,
  functionLength,
  header,
  lineLength,
  routeLength,
} from './sizes.ts';

export const checks: readonly Check[] = [
  // Lengths.
  lineLength,
  fileLength,
  fileLengths,
  routeLength,
  functionLength,
  folderSize,
  header,

  // Who imports whom.
  direction,
  entries,
  simulator,
  circlesByValue,
  circlesByType,

  // What belongs where.
  environment,
  statements,
  vendors,
  searchVendors,
  outbound,
  kernel,
  callers,
  owners,
  wholeServices,

  // How things are written and called.
  untyped,
  inheritance,
  defaultExports,
  barrels,
  fileNames,
  migrations,
  postponed,
  machinePaths,
  lockFile,

  // Documents and comments.
  documentLines,
  documentSentences,
  commentFragments,
  namedPaths,
  nouns,
];
