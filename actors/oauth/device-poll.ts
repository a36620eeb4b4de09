// What a device is answered that asks whether it was approved (RFC 8628, section 3.5).
import type { PolledDevice } from '../../db/oauth/devices.ts';

export type PollAnswer =
  | 'redeem'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'invalid_grant';

/** Null: the client has no such device. Whoever is early is held up only while there is no news. */
export function answerPoll(device: PolledDevice | null): PollAnswer {
  switch (device?.status) {
    case 'pending':
      return device.isEarly ? 'slow_down' : 'authorization_pending';
    case 'approved':
      return 'redeem';
    case 'denied':
      return 'access_denied';
    case 'expired':
      return 'expired_token';
    default:
      return 'invalid_grant';
  }
}
