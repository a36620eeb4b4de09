// Whom a handler may expect follows from the access of its route. The compiler checks it here: each
// line below an @ts-expect-error is refused, or the build fails.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineRoute } from '../../routes/define.ts';
import type {
  Access,
  AccountCaller,
  AnonymousCaller,
  CallerOf,
  KeyCaller,
  SocketCaller,
  UserCaller,
} from '../../routes/services.ts';

type Is<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Of<Kind extends Access['kind']> = CallerOf<Extract<Access, { kind: Kind }>>;

const admitted: {
  none: Is<Of<'none'>, AnonymousCaller>;
  key: Is<Of<'key'>, KeyCaller>;
  user: Is<Of<'user'>, UserCaller>;
  'optional-user': Is<Of<'optional-user'>, UserCaller | AnonymousCaller>;
  self: Is<Of<'self'>, UserCaller>;
  app: Is<Of<'app'>, UserCaller>;
  cookie: Is<Of<'cookie'>, UserCaller>;
  'optional-cookie': Is<Of<'optional-cookie'>, UserCaller | AnonymousCaller>;
  bearer: Is<Of<'bearer'>, UserCaller>;
  admin: Is<Of<'admin'>, UserCaller>;
  'key-or-user': Is<Of<'key-or-user'>, AccountCaller>;
  socket: Is<Of<'socket'>, SocketCaller>;
} & Record<Access['kind'], true> = {
  none: true,
  key: true,
  user: true,
  'optional-user': true,
  self: true,
  app: true,
  cookie: true,
  'optional-cookie': true,
  bearer: true,
  admin: true,
  'key-or-user': true,
  socket: true,
};

const declaration = {
  method: 'GET' as const,
  path: '/api/caller',
  operationId: 'getCaller',
  summary: 'Who calls',
  tag: 'Test',
  documents: [],
  cors: 'none' as const,
  replies: { 200: { description: 'The caller.' } },
  problems: [],
};
const scope = 'models:read' as const;
const answer = (json: unknown) => ({ status: 200, json });

const routes = [
  defineRoute({
    ...declaration,
    access: { kind: 'none' },
    // @ts-expect-error: who is anonymous has no account
    handle: ({ caller }) => answer(caller.accountId),
  }),
  defineRoute({
    ...declaration,
    access: { kind: 'key', scope },
    handle: ({ caller }) => answer([caller.accountId, caller.keyId, caller.scopes]),
  }),
  defineRoute({
    ...declaration,
    access: { kind: 'key', scope },
    // @ts-expect-error: a key is no administrator
    handle: ({ caller }) => answer(caller.admin),
  }),
  defineRoute({
    ...declaration,
    access: { kind: 'user' },
    // @ts-expect-error: a user comes without a key
    handle: ({ caller }) => answer(caller.keyId),
  }),
  defineRoute({
    ...declaration,
    access: { kind: 'optional-user' },
    // @ts-expect-error: it may be nobody
    handle: ({ caller }) => answer(caller.accountId),
  }),
  ...(['self', 'app', 'cookie'] as const).map((kind) =>
    defineRoute({
      ...declaration,
      access: { kind },
      handle: ({ caller }) => answer([caller.accountId, caller.signedIn.id]),
    }),
  ),
  defineRoute({
    ...declaration,
    access: { kind: 'optional-cookie' },
    // @ts-expect-error: it may be nobody
    handle: ({ caller }) => answer(caller.signedIn),
  }),
  defineRoute({
    ...declaration,
    access: { kind: 'bearer', scopes: ['profile'] },
    handle: ({ caller }) => answer(caller.signedIn.client?.scopes),
  }),
  defineRoute({
    ...declaration,
    access: { kind: 'admin' },
    handle: ({ caller }) => answer([caller.accountId, caller.admin]),
  }),
  defineRoute({
    ...declaration,
    access: { kind: 'key-or-user', scope },
    // @ts-expect-error: it may be a user
    handle: ({ caller }) => answer([caller.accountId, caller.keyId]),
  }),
  defineRoute({
    ...declaration,
    access: { kind: 'socket', scope },
    handle: () => answer(null),
    socket: {
      subprotocol: 'test',
      messageBytesMax: 1,
      framesPerSecondMax: 1,
      bufferedBytesMax: 1,
      silenceSecondsMax: 8,
      accept({ caller }) {
        caller.accountId satisfies string;
        // @ts-expect-error: it may be a user
        caller.keyId satisfies string;
        return { opened() {}, message() {}, closed() {} };
      },
    },
  }),
];

test('each kind of access has its caller, and the route keeps its access', () => {
  assert.deepEqual(
    [...new Set(routes.map(({ access }) => access.kind))].sort(),
    Object.keys(admitted).sort(),
  );
});
