// The two OpenAPI documents, made from the route table once and kept as text.
import { createOpenApiDocument } from '../../runtime/http/openapi.ts';
import type { AppRoute } from '../define.ts';
import { envelopeSchemaOf, renderProblem, sampleProblem } from '../problems.ts';
import { accessOf, schemesOf } from './security.ts';

export type DocumentName = 'model' | 'account';

const titles: Record<DocumentName, string> = {
  model: 'tollgate model API',
  account: 'tollgate account API',
};

const descriptions: Record<DocumentName, string> = {
  model:
    'Generation with the models that an administrator enabled, in formats that existing clients ' +
    'speak, billed exactly from one wallet. Amounts are integers in microcredits.',
  account: 'The account, its API keys, its wallet, and what the service offers.',
};

const tags = {
  Generation: 'Answers of models, streamed or whole, idempotent and exactly billed.',
  Models: 'The models that a key can call.',
  Audio: 'Speech from text, and text from recordings.',
  Voice: 'Realtime conversations over a WebSocket.',
  Discovery: 'What the service offers and how it is; no key needed.',
  Keys: 'API keys of the account.',
  Billing: 'The wallet, reservations and usage.',
  Administration: 'For administrators of the service: accounts, wallets, audit, live state.',
  'Catalog administration': 'Providers, models, prices, managed routes, packages, surfaces.',
};

const documents = new Map<string, string>();

/** The document as JSON text. */
export function openApiText(
  name: DocumentName,
  routes: readonly AppRoute[],
  serverUrl: string,
): string {
  const key = `${name} ${serverUrl}`;
  const known = documents.get(key);
  if (known !== undefined) return known;
  const document = createOpenApiDocument(routes, {
    document: name,
    title: titles[name],
    description: descriptions[name],
    serverUrl,
    tags,
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    securitySchemes: schemesOf(routes.filter((route) => route.documents.includes(name))),
    accessOf,
    sampleProblem,
    renderProblem,
    envelopeSchemaOf,
  });
  const text = JSON.stringify(document);
  documents.set(key, text);
  return text;
}
