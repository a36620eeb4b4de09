// Which origins may read a reply. `public` is the same for everybody and therefore cacheable;
// `web` names one origin and allows cookies; `none` says nothing. Fetch standard, section 3.3.

export type CorsPolicy = 'public' | 'web' | 'none';
export type HeaderPair = readonly [name: string, value: string];

export interface Cors {
  /** Headers of an ordinary reply. */
  replyHeaders(policy: CorsPolicy, origin: string | undefined): readonly HeaderPair[];
  /** Headers of the answer to a preflight. */
  preflightHeaders(
    policy: CorsPolicy,
    request: { origin: string | undefined; headers: string | undefined; methods: string },
  ): readonly HeaderPair[];
}

const nothing: readonly HeaderPair[] = [];
const preflightAgeSeconds = '7200';
const defaultRequestHeaders =
  'authorization, content-type, idempotency-key, x-api-key, x-request-id, x-svc-organization';
/** A list of tokens (RFC 9110, 5.6.2): what may be echoed without a way to inject a header. */
const tokenListPattern = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,2048}$/;

/** Builds the header lists once; `webOrigin` is the only origin that a `web` route admits. */
export function createCors(webOrigin: string | null, exposedHeaders: readonly string[]): Cors {
  const exposed: HeaderPair = ['access-control-expose-headers', exposedHeaders.join(', ')];
  const everybody: readonly HeaderPair[] = [['access-control-allow-origin', '*'], exposed];
  const strangers: readonly HeaderPair[] = [['vary', 'origin']];
  const web: readonly HeaderPair[] =
    webOrigin === null
      ? strangers
      : [
          ['access-control-allow-origin', webOrigin],
          ['access-control-allow-credentials', 'true'],
          exposed,
          ['vary', 'origin'],
        ];
  const replyHeaders: Cors['replyHeaders'] = (policy, origin) => {
    if (policy === 'public') return everybody;
    if (policy === 'none') return nothing;
    return origin !== undefined && origin === webOrigin ? web : strangers;
  };
  return {
    replyHeaders,
    preflightHeaders(policy, request) {
      const admitted = replyHeaders(policy, request.origin);
      if (!admitted.some(([name]) => name === 'access-control-allow-origin')) return admitted;
      const asked = request.headers;
      const allowed = asked !== undefined && tokenListPattern.test(asked);
      return [
        ...admitted.filter(([name]) => name !== 'vary' && name !== exposed[0]),
        ['access-control-allow-methods', request.methods],
        ['access-control-allow-headers', allowed ? asked : defaultRequestHeaders],
        ['access-control-max-age', preflightAgeSeconds],
        ['vary', 'origin, access-control-request-headers'],
      ];
    },
  };
}
