// GET /api/me/purchases/{id}/invoice: a document of a purchase, as a page, a PDF or JSON.
import * as v from 'valibot';
import { drawPdf } from '../../actors/invoices/drawing.ts';
import { findDocument } from '../../db/purchases/invoices.ts';
import type { IssuedDocument } from '../../media/documents/document.ts';
import { invoiceHtml, invoicePolicy } from '../../media/documents/invoice.ts';
import { lineOfText } from '../../runtime/http/text.ts';
import { Problem } from '../../runtime/problem.ts';
import { requireBillingOwner } from '../billing/owner.ts';
import { defineRoute } from '../define.ts';
import { documentSchema } from './document-schema.ts';

const headers = {
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export const getInvoice = defineRoute({
  method: 'GET',
  path: '/api/me/purchases/{id}/invoice',
  operationId: 'getInvoice',
  summary: 'Read an invoice',
  description:
    'The invoice of a purchase: within minutes of its completion, else 404. `format`: `html` (a ' +
    'page to print, the default), `pdf` (the same words), `json`. `document`: the number of a ' +
    'credit note of it; there is one per refund and lost dispute. What was issued never changes.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  params: v.strictObject({ id: lineOfText(100) }),
  query: v.strictObject({
    format: v.optional(v.picklist(['html', 'pdf', 'json'])),
    document: v.optional(lineOfText(60)),
  }),
  replies: {
    200: {
      description: 'The document; amounts in minor units of the currency.',
      schema: v.strictObject({ ok: v.literal(true), document: documentSchema }),
      moreMediaTypes: ['text/html', 'application/pdf'],
    },
  },
  problems: ['not_found', 'overloaded', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const { format = 'html', document: number = null } = query;
    const { accountId } = requireBillingOwner(caller);
    const document = await findDocument<IssuedDocument>(services.sql, accountId, params.id, number);
    if (document === null) throw new Problem('not_found', { param: 'id' });
    if (format === 'json') return { status: 200, json: { ok: true, document }, headers };
    if (format === 'html') {
      const text = invoiceHtml(document);
      const policy = { 'content-security-policy': invoicePolicy };
      const mediaType = 'text/html; charset=utf-8';
      return { status: 200, text, mediaType, headers: { ...headers, ...policy } };
    }
    const bytes = await drawPdf(services.tasks(), accountId, document);
    const disposition = { 'content-disposition': `inline; filename="${document.number}.pdf"` };
    const mediaType = 'application/pdf';
    return { status: 200, bytes, mediaType, headers: { ...headers, ...disposition } };
  },
});
