// The page on which a person lets an app act for it. The route /oauth/authorize renders it, once it
// has checked the request.
import type { Reply } from '../../../runtime/http/route.ts';
import { framed } from './frame.ts';

export interface ApprovalData {
  /** The checked request, sealed: the page sends it back with the decision. */
  request: string;
  client: {
    id: string;
    display_name: string;
    /** The host that stands for it; null: it has none that is known. */
    host: string | null;
    first_party: boolean;
    /** False: it says all of this about itself. */
    verified: boolean;
  };
  scopes: string[];
  account: { email: string | null; full_name: string | null; id: string };
  /** Where it leads: a host, the address of this computer, or a scheme. */
  redirect: { kind: 'https' | 'loopback' | 'private'; shown: string };
}

/** The page, which is never stored. Everything in it is text. */
export function renderApproval(data: ApprovalData): Reply {
  return framed({ name: 'approval', title: 'Allow access', module: 'approval', data });
}
