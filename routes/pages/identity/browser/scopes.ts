// What an app asks for, in the words of who is asked.

const words: ReadonlyMap<string, string> = new Map([
  ['profile', 'See your name'],
  ['email', 'See your email address'],
  ['app', 'Act for you: spend your credits, make API keys, read and change what you keep here'],
]);

/** One line for each thing that the app may do. An unknown one is named as it is. */
export function scopeLines(scopes: readonly string[]): string[] {
  const lines = scopes
    .filter((scope) => scope !== 'offline_access')
    .map((scope) => words.get(scope) ?? `Use “${scope}”`);
  return lines.length === 0 ? ['Know that it is you, and nothing else'] : lines;
}

/** What even an app that acts for a person may never do. */
export function limitText(scopes: readonly string[]): string {
  return scopes.includes('app')
    ? 'But not change your address or delete your account'
    : 'But not change anything or spend your credits';
}

/** How long it may do that. */
export function durationText(scopes: readonly string[]): string {
  return scopes.includes('offline_access')
    ? 'Until you disconnect it, also while you are away'
    : 'For one hour';
}

export interface Redirect {
  kind: 'https' | 'loopback' | 'private';
  shown: string;
}

/** Where an answer goes. */
export function redirectText({ kind, shown }: Redirect): string {
  if (kind === 'https') return shown;
  if (kind === 'loopback') return `An app on this computer (${shown})`;
  return `The app on this device that opens “${shown}” links`;
}
