// The Realtime family: a WebSocket at /v1/realtime?model=…, a bearer token in its upgrade.
import { errorBody, errorHeaders, errorOfStatus, wrongKey } from '../chat/failure.ts';
import type { SimReply, SimSocketFamily, SimUpgrade, SimVerdict } from '../contract.ts';
import type { Refusal } from '../directive.ts';
import { bearerOf } from '../key.ts';
import { parseVoiceDirective } from '../voice/directive.ts';
import { RealtimeSession } from './session.ts';

/** Ids with another name and length than any public alias. */
export const realtimeModels: readonly string[] = ['sim-realtime-2026', 'sim-realtime-mini-2026'];

export const realtimeFamily: SimSocketFamily = {
  name: 'realtime',
  paths: ['/v1/realtime'],
  keyOf: bearerOf,
  keep: (req) => ({ model: req.getQuery('model') ?? '' }),
  connect,
};

function connect(upgrade: SimUpgrade): SimVerdict {
  const { directiveText, kept } = upgrade;
  const model = kept.model ?? '';
  const directive = parseVoiceDirective(directiveText);
  if (directive?.faults.has('connect_stall') === true) return 'stall';
  const status = upgrade.outageStatus(model) ?? directive?.base.status ?? 200;
  if (status !== 200) return { refuse: refusal(status, directive?.base.retryAfterSeconds ?? 1) };
  if (!upgrade.keyAccepted) return { refuse: refusal(401, 1) };
  if (model === '') return { refuse: refusal(400, 1) };
  return {
    model,
    open: (link) => {
      const session = new RealtimeSession(link, model, directiveText);
      if (!realtimeModels.includes(model)) session.rejectModel();
      return session;
    },
  };
}

function refusal(status: Refusal, retryAfterSeconds: number): SimReply {
  const error = status === 401 ? wrongKey : errorOfStatus(status);
  const headers = errorHeaders(error, 'req_sim', retryAfterSeconds);
  return { status: error.status, headers, body: errorBody(error) };
}
