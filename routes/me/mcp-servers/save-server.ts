// POST /api/me/mcp-servers: adds a remote MCP server, or changes one. Its URL is judged as one that
// is to be fetched; nothing is opened.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText, visibleAscii } from '../../../runtime/http/text.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import type { Outbound } from '../../../runtime/outbound/contract.ts';
import { outboundUses } from '../../../runtime/outbound/uses.ts';
import { defineRoute } from '../../define.ts';
import { requireRecorded } from '../../organizations/recorded.ts';
import type { Services, UserCaller } from '../../services.ts';
import { changeServer, mcpServerId } from './change.ts';
import { mcpServerBody, mcpServerSchema } from './schema.ts';

const toolNames = v.optional(v.pipe(v.array(lineOfText(128)), v.maxLength(256)));
const reply = v.strictObject({ ok: v.literal(true), server: mcpServerSchema });

export const saveServer = defineRoute({
  method: 'POST',
  path: '/api/me/mcp-servers',
  operationId: 'saveMcpServer',
  summary: 'Add or change an MCP server',
  description:
    'Without `id` a new one: 32 an account, then 409 `conflict`. With `id` what is absent stays ' +
    'as it is. `url` is https and leads to the public web. `authorization` is sent as a bearer ' +
    'token; it is stored encrypted and never told. Another origin in `url` needs it again. ' +
    '`allowed_tools` may be called although they may write; `approve` names new or changed ' +
    'tools. A server that is down is saved all the same.',
  tag: 'Preferences',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    halves: 'replaced',
    example: { name: 'Docs', url: 'https://mcp.example.com/mcp' },
    schema: v.strictObject({
      id: v.optional(mcpServerId),
      name: lineOfText(60),
      url: visibleAscii(2_048),
      authorization: v.optional(v.nullable(visibleAscii(4_096))),
      enabled: v.optional(v.boolean()),
      trusted: v.optional(v.boolean()),
      allowed_tools: toolNames,
      approve: toolNames,
      allow_after_reading: v.optional(v.boolean()),
    }),
  },
  replies: {
    200: { description: 'The server as it is now.', schema: reply },
    201: { description: 'The new server.', schema: reply },
  },
  problems: ['policy_blocked', 'not_found', 'conflict', 'dependency_unavailable'],
  async handle({ body, caller, services, exchange }) {
    // No tool is known before the server was asked: there is none to approve.
    if ((body.approve ?? []).length > 0) {
      throw fieldProblem('approve[0]', 'The server has no tool of this name.');
    }
    await requireAllowed(services, caller, body.url);
    const ending = new AbortController();
    exchange.onAbort(() => ending.abort());
    const url = await judged(services.outbound, body.url, ending.signal);
    const wanted = { ...body, url };
    const { server, isNew } = await withDeadline(changeServer(services, caller.accountId, wanted));
    return {
      status: isNew ? 201 : 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, server: mcpServerBody(server) },
    };
  },
});

/** What is no URL is told by whoever judges it. @throws Problem policy_blocked */
async function requireAllowed(
  services: Pick<Services, 'audit'>,
  caller: UserCaller,
  url: string,
): Promise<void> {
  if (!URL.canParse(url)) return;
  const { hostname: host } = new URL(url);
  const target = { type: 'mcp_server', id: host };
  await requireRecorded(services, caller, { kind: 'mcp.add', host }, target);
}

/** The URL as it was parsed. @throws Problem invalid_request */
async function judged(outbound: Outbound, url: string, signal: AbortSignal): Promise<string> {
  const judgement = await outbound.check(url, outboundUses.mcpServer, { signal });
  if (judgement.ok) return judgement.url;
  if (judgement.reason === 'source_refused') throw fieldProblem('url', judgement.message);
  // Nobody answers under this name at the moment: that is no fault of the URL.
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}
