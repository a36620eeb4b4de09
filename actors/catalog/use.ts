// What a model of the catalog may be used for: a model of another kind is none here, and the answer
// says where it is used.
import type { ModelKind } from '../../media/providers/model-kinds.ts';
import { Problem } from '../../runtime/problem.ts';
import type { CatalogModel } from './model.ts';

const places: Readonly<Record<ModelKind, string>> = {
  generation: 'the generation routes',
  voice: 'voice sessions',
  speech: '/v1/audio/speech',
  transcription: '/v1/audio/transcriptions',
};

/** @throws Problem model_not_found */
export function requireKind({ alias, kind }: CatalogModel, wanted: ModelKind): void {
  if (kind === wanted) return;
  throw new Problem('model_not_found', {
    message: `${JSON.stringify(alias)} is a ${kind} model: it is used with ${places[kind]}.`,
    param: 'model',
  });
}
