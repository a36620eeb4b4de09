// Scopes of API keys (decisions.md, section 3).

export const scopes = [
  'models:read',
  'models:generate',
  'voice:session',
  'audio:speech',
  'audio:transcribe',
  'video:generate',
  'video:analyze',
  'query:execute',
  'kb:read',
  'kb:write',
  'meetings:read',
  'meetings:write',
  'billing:read',
] as const;
export type Scope = (typeof scopes)[number];
