// Every check, in the order in which they are told. Read this first.
import type { Check } from './check.ts';
import { circlesByType, circlesByValue } from './circles.ts';

export const checks: readonly Check[] = [circlesByValue, circlesByType];
