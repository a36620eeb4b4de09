// The two OpenAPI documents, made from the route table once and kept as text.
import type { Scope } from '../../actors/credentials/scope.ts';
import { createOpenApiDocument } from '../../runtime/http/openapi.ts';
import type { ProblemCode } from '../../runtime/problem.ts';
import type { AppRoute } from '../define.ts';
import { envelopeSchemaOf, renderProblem } from '../problems.ts';
import type { Access } from '../services.ts';

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

const securitySchemes: Record<string, Record<string, unknown>> = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `svc_live_…`.' },
  apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  session: { type: 'apiKey', in: 'header', name: 'x-svc-session' },
  ticket: { type: 'apiKey', in: 'query', name: 'ticket', description: 'Of a browser.' },
  sessionCookie: { type: 'apiKey', in: 'cookie', name: 'svc_session' },
};

const keyProblems: ProblemCode[] = [
  'unauthenticated',
  'invalid_api_key',
  'insufficient_scope',
  'rate_limited',
  'concurrency_limited',
  'dependency_unavailable',
];
const userProblems: ProblemCode[] = [
  'unauthenticated',
  'session_expired',
  'rate_limited',
  'forbidden',
  'dependency_unavailable',
];

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
    renderProblem,
    envelopeSchemaOf,
  });
  const text = JSON.stringify(document);
  documents.set(key, text);
  return text;
}

function accessOf(access: Access): {
  security: Record<string, string[]>[];
  problems: ProblemCode[];
} {
  const key = (_scope: Scope) => [{ apiKey: [] }, { apiKeyHeader: [] }];
  const user = [{ session: [] }, { sessionCookie: [] }];
  switch (access.kind) {
    case 'none':
      return { security: [], problems: [] };
    case 'key':
      return { security: key(access.scope), problems: keyProblems };
    case 'user':
    case 'admin':
      return { security: user, problems: userProblems };
    case 'socket':
      return {
        security: [...key(access.scope), { ticket: [] }, { session: [] }],
        problems: [...new Set([...keyProblems, ...userProblems])],
      };
    case 'key-or-user':
      return {
        security: [...key(access.scope), ...user],
        problems: [...new Set([...keyProblems, ...userProblems])],
      };
  }
}

/** Only the schemes that a route of the document takes. */
function schemesOf(routes: readonly AppRoute[]): typeof securitySchemes {
  const used = new Set(
    routes.flatMap((route) => accessOf(route.access).security.flatMap(Object.keys)),
  );
  return Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name)));
}
