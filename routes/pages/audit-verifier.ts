// GET /docs/tollgate-audit.mjs: the program that verifies exports of audits, for whoever would not
// take it from a package.
import { readFile } from 'node:fs/promises';
import { compiledFile } from '../../runtime/files.ts';
import { defineRoute } from '../define.ts';
import { createAsset } from './asset.ts';

const verifier = createAsset({
  load: () => readFile(compiledFile('bundle/tollgate-audit.mjs')),
  mediaType: 'text/javascript; charset=utf-8',
  maxAgeSeconds: 3_600,
});

export const getAuditVerifier = defineRoute({
  method: 'GET',
  path: '/docs/tollgate-audit.mjs',
  operationId: 'getAuditVerifier',
  summary: 'The program that verifies exports of audits',
  tag: 'pages',
  documents: [],
  access: { kind: 'none' },
  cors: 'none',
  replies: {
    200: { description: 'The program.', mediaType: 'text/javascript' },
    304: { description: 'The program has not changed.' },
  },
  problems: [],
  handle: ({ exchange }) => verifier(exchange),
});
