// GET /v1/responses: clients look for a WebSocket here before they stream by HTTP. There is none
// yet, and 426 is the one refusal after which they do not try again.
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';

export const openResponseSocket = defineRoute({
  method: 'GET',
  path: '/v1/responses',
  aliases: ['/api/v1/responses'],
  operationId: 'openResponseSocket',
  summary: 'Responses over a WebSocket (not available)',
  description:
    'A WebSocket handshake is answered 426: responses are streamed by `POST /v1/responses` with ' +
    '`stream`. Clients that try a WebSocket first go on by HTTP at once. A GET that is no ' +
    'handshake is answered 405.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate', isUncounted: true },
  cors: 'public',
  headers: { upgrade: { description: '`websocket`, of a handshake.' } },
  replies: {},
  problems: ['upgrade_required', 'method_not_allowed'],
  problemHeaders: {
    upgrade: 'With 426: `websocket`.',
    allow: 'With 405: the methods of this path.',
  },
  handle({ exchange }) {
    const asked = exchange.header('upgrade') ?? '';
    if (!/(^|,)\s*websocket\s*(,|$)/i.test(asked)) {
      throw new Problem('method_not_allowed', { headers: { allow: 'POST, OPTIONS' } });
    }
    throw new Problem('upgrade_required', {
      message: 'Responses are not available over a WebSocket: POST /v1/responses streams them.',
      headers: { upgrade: 'websocket', connection: 'Upgrade', 'x-should-retry': 'false' },
    });
  },
});
