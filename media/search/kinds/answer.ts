// Pages that an answer cites: as those of the web, under a name of their own.
import * as v from 'valibot';
import { pageEntries, readWeb } from './web.ts';

export const answerItem = v.pipe(v.strictObject(pageEntries), v.title('AnswerItem'));

export const readAnswer = readWeb;
