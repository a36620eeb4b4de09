// Which route takes which credential (identity.md, section 1): every path of the table matches one
// row. A route without a row fails its test.

/** What may be shown, each as the only credential of a request. */
export type Shown = 'key' | 'cookie' | 'header' | 'bearer' | 'otherBearer';

/** `in`: admitted. Others: the status of the refusal. `ignored`: as if nothing had been shown. */
export type Outcome = 'in' | 'ignored' | 401 | 403;

export interface Row {
  name: string;
  /** Without any credential. */
  none: 'in' | 401 | 'signin';
  shown: Readonly<Record<Shown, Outcome>>;
  /** The access that a route of this row declares. */
  access: readonly string[];
}

const open: Row = {
  name: 'open',
  none: 'in',
  shown: {
    key: 'ignored',
    cookie: 'ignored',
    header: 'ignored',
    bearer: 'ignored',
    otherBearer: 'ignored',
  },
  access: ['none'],
};
const browser: Row = {
  name: 'browser session, open too',
  none: 'in',
  shown: {
    key: 'ignored',
    cookie: 'in',
    header: 'ignored',
    bearer: 'ignored',
    otherBearer: 'ignored',
  },
  access: ['optional-cookie'],
};
const app: Row = {
  name: 'app session',
  none: 401,
  shown: { key: 401, cookie: 401, header: 'in', bearer: 'in', otherBearer: 403 },
  access: ['app'],
};
const userinfo: Row = {
  name: 'userinfo',
  none: 401,
  shown: { key: 401, cookie: 401, header: 401, bearer: 'in', otherBearer: 'in' },
  access: ['bearer'],
};
const optionalUser: Row = {
  name: 'user, open too',
  none: 'in',
  shown: { key: 'ignored', cookie: 'in', header: 'in', bearer: 'in', otherBearer: 403 },
  access: ['optional-user'],
};
/** Pages lead to the sign-in, what they send is refused. */
const signedInPage: Row = {
  name: 'page of who is signed in',
  none: 'signin',
  shown: {
    key: 'ignored',
    cookie: 'in',
    header: 'ignored',
    bearer: 'ignored',
    otherBearer: 'ignored',
  },
  access: ['optional-cookie'],
};
const cookie: Row = {
  name: 'cookie',
  none: 401,
  shown: { key: 401, cookie: 'in', header: 401, bearer: 401, otherBearer: 401 },
  access: ['cookie'],
};
const user: Row = {
  name: 'user',
  none: 401,
  shown: { key: 401, cookie: 'in', header: 'in', bearer: 'in', otherBearer: 403 },
  access: ['user'],
};
const self: Row = {
  name: 'self',
  none: 401,
  shown: { key: 401, cookie: 'in', header: 'in', bearer: 403, otherBearer: 403 },
  access: ['self'],
};
const keyOrUser: Row = {
  name: 'key or user',
  none: 401,
  shown: { key: 'in', cookie: 'in', header: 'in', bearer: 'in', otherBearer: 403 },
  access: ['key-or-user'],
};
const socket: Row = {
  name: 'socket',
  none: 401,
  shown: { key: 'in', cookie: 401, header: 'in', bearer: 'in', otherBearer: 403 },
  access: ['socket'],
};
const key: Row = {
  name: 'key',
  none: 401,
  shown: { key: 'in', cookie: 401, header: 401, bearer: 401, otherBearer: 401 },
  access: ['key'],
};
const admin: Row = {
  name: 'admin',
  none: 401,
  shown: { key: 401, cookie: 403, header: 403, bearer: 403, otherBearer: 403 },
  access: ['admin'],
};

/** The first that matches counts. */
const rows: readonly (readonly [RegExp, Row])[] = [
  [/^(GET|POST) \/api\/auth\/(session|logout)$/, browser],
  [/^POST \/api\/auth\/otp\//, open],
  [/^POST \/api\/app\/auth\/(register|login|password\/reset(\/confirm)?)$/, open],
  [/^(GET|POST) \/api\/app\/auth\/(session|logout)$/, app],
  [/^POST \/api\/app\/notifications\/read$/, user],
  [/^POST \/api\/enterprise\/organizations\/\{\w+\}\/(close|owner)$/, self],
  [/^\w+ \/api\/enterprise\/organizations(\/|$)/, user],
  [/^\w+ \/api\/me\/(organizations|invitations)(\/|$)/, user],
  [/^\w+ \/api\/app\/(notifications|installations|activity|errors|feedback)$/, optionalUser],
  [/^POST \/api\/app\/auth\/(email\/|password\/change)/, self],
  [/^\w+ \/oauth\/userinfo$/, userinfo],
  [/^GET \/oauth\/(authorize|device)$/, signedInPage],
  [/^POST \/oauth\/(authorize\/decision|device)$/, cookie],
  [/^POST \/oauth\/(token|revoke|device\/code)$/, open],
  [/^GET \/(\.well-known\/|oauth\/client-metadata\.json)/, open],
  [/^GET \/account(\/|$)/, signedInPage],
  [/^GET \/(signin|signup)$/, browser],
  [/^(GET|DELETE) \/dev\/mailbox/, open],
  [/^GET \/(identity|voice|video|search|docs|mailbox)(\/|$)/, open],
  [/^GET \/docs/, open],
  [/^POST \/(voice\/key|search\/key|video\/session)$/, open],
  [/^GET \/api(\/v1)?\/(health|openapi\.json|catalog|public\/.*)$/, open],
  [/^\w+ \/api\/me\/(account|sessions|authorizations)(\/|$)/, self],
  [/^GET \/api\/(social-profiles|browser-extension\/)/, open],
  [
    /^\w+ \/api\/me\/(dashboard|api-keys|purchases|generated-videos|ai|mcp-servers|rewards)(\/|$)/,
    user,
  ],
  [/^GET \/api\/me\/billing\/(summary|ledger|export\.csv)$/, keyOrUser],
  [/^\w+ \/api\/me\/billing\/settings$/, user],
  [/^POST \/api\/payments\//, open],
  [/^\w+ \/v1\/voice\/(voices|tickets)$/, keyOrUser],
  [/^\w+ \/v1\/video\/generations(\/|$)/, keyOrUser],
  [/^POST \/api\/v1\/query$/, keyOrUser],
  [/^GET \/v1\/voice\/sessions$/, socket],
  [/^\w+ \/v1\/(generations|audio|video\/analyses)(\/|$)/, key],
  [/^\w+ \/v1\/(models|chat\/completions|responses|messages)(\/|$)/, key],
  [/^\w+ \/api\/v1\/llm\//, key],
  [/^\w+ \/api\/admin\//, admin],
];

/** The row of a route, or null: nobody has said who may call it. */
export function rowOf(method: string, path: string): Row | null {
  const route = `${method} ${path}`;
  return rows.find(([pattern]) => pattern.test(route))?.[1] ?? null;
}
