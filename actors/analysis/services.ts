// What analyses offer to routes.
import type { AnalysisCreation } from './create.ts';

export interface AnalysisServices {
  creation: AnalysisCreation;
}
