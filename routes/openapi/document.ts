// The two OpenAPI documents, made from the route table once and kept as text.
import { markupPercent } from '../../actors/wallet/price.ts';
import { fittingReference } from '../../media/providers/generation/fitting/reference.ts';
import { createOpenApiDocument } from '../../runtime/http/openapi.ts';
import type { AppRoute } from '../define.ts';
import { envelopeSchemaOf, renderProblem, sampleProblem } from '../problems.ts';
import { accessOf, schemesOf } from './security.ts';

export type DocumentName = 'model' | 'account';

const titles: Record<DocumentName, string> = {
  model: 'tollgate model API',
  account: 'tollgate account API',
};

const money =
  'Amounts are integers in microcredits, millionths of a credit. A credit is a cent of a US ' +
  `dollar unless \`credits_per_usd\` says otherwise, and rates include a markup of ` +
  `${markupPercent} %: \`GET /api/public/models\` tells both.`;

const descriptions: Record<DocumentName, string> = {
  model:
    'Generation with the models that an administrator enabled, in formats that existing clients ' +
    'speak, billed exactly from one wallet. A body may come in chunks, but their extensions and ' +
    `trailers are refused, and its reply ends the connection. ${money}`,
  account: `The account, its API keys, its wallet, and what the service offers. ${money}`,
};

const tags = {
  Generation: [
    'Answers of models, streamed or whole, idempotent and exactly billed.',
    fittingReference,
  ].join(' '),
  Models: 'The models that a key can call.',
  Audio: 'Speech from text, and text from recordings.',
  Video: 'Videos from text, made by jobs, their private files, and descriptions of videos.',
  Query: 'Fifteen searches with one shape of answer, paid only when something was found.',
  Voice: 'Realtime conversations over a WebSocket.',
  Discovery: 'What the service offers and how it is; no key needed.',
  OAuth:
    'Apps that act for people (RFC 6749, 7009, 7636, 8414, 8628, 9728). Their errors are ' +
    '`error` and `error_description`.',
  'Sign-in': 'One-time codes for browsers, passwords for apps, and their sessions.',
  Account: 'Who is signed in: name and address, sessions, apps, a copy of the data, deletion.',
  Keys: 'API keys of the account.',
  Organizations:
    'Companies with one wallet: members, caps, policy, domains, and an audit to check.',
  Preferences: 'Models that the account prefers, and remote MCP servers that it added.',
  Apps: 'What apps tell of themselves, and what they are told; no key needed.',
  Billing: 'The wallet, reservations and usage.',
  Rewards: 'Promotional credit: codes, referrals, and tasks that are rewarded.',
  Administration: 'For administrators of the service: accounts, wallets, mail, audit, live state.',
  'Catalog administration':
    'Providers, models, prices, managed routes, packages, surfaces, OAuth clients, promotions, ' +
    'rewarded tasks, and the settings of identity and of billing.',
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
