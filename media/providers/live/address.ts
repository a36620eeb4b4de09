// A catalog's base URL, which is http or https, as the beginning of a WebSocket's.

/** Without a slash at its end; `http` becomes `ws`, `https` `wss`. */
export function socketBase(baseUrl: string): string {
  return baseUrl.replace(/^http/i, 'ws').replace(/\/+$/, '');
}
