// The security schemes of the OpenAPI documents: what a caller shows, and how.

export const securitySchemes: Record<string, Record<string, unknown>> = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key, `svc_live_…`, with the scope that is named. Replies to a key say what is left ' +
      'of its limits: `x-ratelimit-{limit,remaining,reset}-{requests,concurrency}`, reset in ' +
      'seconds.',
  },
  apiKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description:
      'The same key in a header of its own. Where both headers are sent, the one that has the ' +
      'form of our keys is taken, `Authorization` before this one.',
  },
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'x-svc-session',
    description:
      "An app's session, `svc_app_…`, from `/api/app/auth/*`. It has 600 requests a minute and " +
      '64 at once, as a key.',
  },
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'From `POST /v1/voice/tickets`: for browsers, once.',
  },
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_session',
    description:
      'Set by signing in on the pages. A write with it needs an `Origin` that is the web origin, ' +
      'or none and `Sec-Fetch-Site: same-origin`.',
  },
  oauth: {
    type: 'oauth2',
    description:
      'An access token, `svc_at_…`, of an app that a person has authorized. Routes that act for ' +
      'the person need the scope `app`.',
    flows: {
      authorizationCode: {
        authorizationUrl: '/oauth/authorize',
        tokenUrl: '/oauth/token',
        refreshUrl: '/oauth/token',
        scopes: {
          profile: 'Account id and name.',
          email: 'The address, and whether it is verified.',
          offline_access: 'A refresh token.',
          app: 'Calls the user-authenticated routes as the person.',
        },
      },
    },
  },
};
