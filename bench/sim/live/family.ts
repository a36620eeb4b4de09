// The Gemini Live family: BidiGenerateContent as a WebSocket. A wrong key is told after the
// upgrade, with a close.
import type { SimSocketFamily, SimUpgrade, SimVerdict } from '../contract.ts';
import { errorOfStatus, errorReply } from '../gemini/failure.ts';
import { parseVoiceDirective } from '../voice/directive.ts';
import { wrongKey } from './check.ts';
import { LiveSession } from './session.ts';

const path = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';

export const liveFamily: SimSocketFamily = {
  name: 'live',
  // The vendor's client writes the second slash; the provider takes both.
  paths: [path, `/${path}`],
  keyOf: (req) => req.getHeader('x-goog-api-key') || (req.getQuery('key') ?? ''),
  keep: () => ({}),
  connect,
};

function connect(upgrade: SimUpgrade): SimVerdict {
  const { directiveText, keyAccepted } = upgrade;
  const directive = parseVoiceDirective(directiveText);
  if (directive?.faults.has('connect_stall') === true) return 'stall';
  const status = upgrade.outageStatus('live') ?? directive?.base.status ?? 200;
  const retryAfterSeconds = directive?.base.retryAfterSeconds ?? 1;
  if (status !== 200) {
    return { refuse: errorReply(errorOfStatus(status, retryAfterSeconds), retryAfterSeconds) };
  }
  return {
    // The set-up names the model; connections are counted under the family.
    model: 'live',
    open: (link) => {
      const session = new LiveSession(link, directiveText);
      if (!keyAccepted) link.close(wrongKey.code, wrongKey.reason);
      return session;
    },
  };
}
