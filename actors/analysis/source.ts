// What `source_url` names: a URL of the web, or a generated video of the account's own.

export type NamedSource =
  | { kind: 'url'; url: string }
  | { kind: 'generated_video'; videoId: string };

const ownPath = /^\/api\/me\/generated-videos\/(vid_[a-f0-9]{24})$/;

/** Null: neither. `baseUrl`: of this service, whose own videos may be named in full. */
export function readSource(text: string, baseUrl: string): NamedSource | null {
  const relative = ownPath.exec(text);
  if (relative?.[1] !== undefined) return { kind: 'generated_video', videoId: relative[1] };
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  const own = new URL(baseUrl);
  if (url.origin === own.origin) {
    const path = url.pathname.slice(own.pathname.replace(/\/$/, '').length);
    const named = ownPath.exec(path);
    if (named?.[1] !== undefined) return { kind: 'generated_video', videoId: named[1] };
  }
  return { kind: 'url', url: text };
}
