// Who may change which settings, in which status. The legal hold is the canonical owner's.
import type { OrganizationSettings } from '../../../actors/organization/settings.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { requireFresh } from '../../identity/sign-in.ts';
import type { UserCaller } from '../../services.ts';
import { forbidden, inStatus, type Seat } from '../access.ts';

type Name = keyof OrganizationSettings;

/** The billing role changes these. */
const ofMoney: ReadonlySet<Name> = new Set<Name>([
  'centralized_billing',
  'allow_personal_billing_fallback',
  'monthly_spend_limit_micros',
  'default_member_spend_limit_micros',
]);

const caps: readonly Name[] = ['monthly_spend_limit_micros', 'default_member_spend_limit_micros'];

interface AskedChange {
  caller: UserCaller;
  seat: Seat;
  before: OrganizationSettings;
  after: OrganizationSettings;
  /** What is another afterwards. */
  names: readonly Name[];
  asked: { confirm?: boolean | undefined; reason?: string | undefined };
}

/** @throws Problem forbidden, invalid_state, invalid_request */
export function requireMayChange(change: AskedChange): void {
  const { seat, names, before, after } = change;
  if (seat.role === 'billing' && !names.every((name) => ofMoney.has(name))) {
    throw forbidden('Your role changes the settings of money alone.');
  }
  const { status } = seat.organization;
  const isTaken = (name: Name) => name === 'legal_hold' || isLowered(name, before, after);
  if (status === 'suspended' && !names.every(isTaken)) throw inStatus(status);
  if (names.includes('legal_hold')) requireHoldChange(change);
}

function isLowered(name: Name, before: OrganizationSettings, after: OrganizationSettings): boolean {
  if (!caps.includes(name)) return false;
  const [from, to] = [before[name], after[name]] as (number | null)[];
  return to !== null && to !== undefined && (from == null || to < from);
}

/** @throws Problem forbidden, invalid_request */
function requireHoldChange({ caller, seat, after, asked }: AskedChange): void {
  if (!seat.isCanonicalOwner) throw forbidden('The canonical owner alone changes the legal hold.');
  requireFresh(caller);
  if (asked.confirm !== true) {
    throw fieldProblem('confirm', 'A change of the legal hold is confirmed with true.');
  }
  if (!after.legal_hold && asked.reason === undefined) {
    throw fieldProblem('reason', 'A reason is given when the legal hold ends.');
  }
}
