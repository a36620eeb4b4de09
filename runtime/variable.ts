// One environment variable as a value: name, default, meaning, and how its text is read.
// A reader returns the value, or throws an Expectation that says what would have been right.
import { isIP } from 'node:net';
import { readException } from './outbound/exceptions.ts';

/** What a text should have been; becomes one line that names the variable. */
export class Expectation extends Error {}

export interface Variable<T> {
  readonly name: string;
  /** As shown in the table of `--help`. */
  readonly type: string;
  readonly shownDefault: string;
  readonly meaning: string;
  /** The value is never shown, not even in an error. */
  readonly secret: boolean;
  read(text: string | undefined): T;
}

interface Declared<T> {
  name: string;
  type: string;
  meaning: string;
  fallback: T;
  shownDefault?: string | undefined;
  secret?: boolean;
  parse: (text: string) => T;
}

function declare<T>(declared: Declared<T>): Variable<T> {
  const { name, type, meaning, fallback, parse } = declared;
  const shown = fallback === null ? 'unset' : String(fallback);
  return {
    name,
    type,
    meaning,
    shownDefault: declared.shownDefault ?? shown,
    secret: declared.secret ?? false,
    read: (text) => (text === undefined ? fallback : parse(text)),
  };
}

export function integer(
  name: string,
  fallback: number,
  [minimum, maximum]: [number, number],
  meaning: string,
): Variable<number> {
  const parse = (text: string) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new Expectation(`an integer from ${minimum} to ${maximum}`);
    }
    return value;
  };
  return declare({ name, type: 'integer', meaning, fallback, parse });
}

/** An integer whose default is decided elsewhere, or which is off when unset. */
export function optionalInteger(
  name: string,
  [minimum, maximum]: [number, number],
  meaning: string,
  shownDefault?: string,
): Variable<number | null> {
  const { parse } = { parse: integer(name, 0, [minimum, maximum], meaning).read };
  return declare<number | null>({
    name,
    type: 'integer',
    meaning,
    fallback: null,
    shownDefault,
    parse,
  });
}

export function text(name: string, fallback: string, meaning: string): Variable<string> {
  return declare({ name, type: 'text', meaning, fallback, parse: (value) => value });
}

/** A name or an address to listen on; one of IPv6 also in the brackets that it has in a URL. */
export function listenAddress(name: string, fallback: string, meaning: string): Variable<string> {
  const parse = (value: string) => value.replace(/^\[(.+)\]$/, '$1');
  return declare({ name, type: 'text', meaning, fallback, parse });
}

export function optionalText(
  name: string,
  meaning: string,
  shownDefault?: string,
): Variable<string | null> {
  return declare<string | null>({
    name,
    type: 'text',
    meaning,
    fallback: null,
    shownDefault,
    parse: (value) => value,
  });
}

export function secret(name: string, meaning: string, shownDefault?: string) {
  return declare<string | null>({
    name,
    type: 'secret',
    meaning,
    fallback: null,
    shownDefault,
    secret: true,
    parse: (value) => value,
  });
}

/** 32 random bytes as base64url, 43 characters. */
export function key32(name: string, meaning: string, shownDefault: string) {
  return declare<string | null>({
    name,
    type: 'secret',
    meaning,
    fallback: null,
    shownDefault,
    secret: true,
    parse: (value) => {
      if (!/^[A-Za-z0-9_-]{43}=?$/.test(value)) {
        throw new Expectation('32 bytes as base64url (43 characters)');
      }
      return value.slice(0, 43);
    },
  });
}

export function choice<const T extends string>(
  name: string,
  values: readonly T[],
  fallback: T,
  meaning: string,
): Variable<T> {
  return declare<T>({
    name,
    type: values.join('|'),
    meaning,
    fallback,
    parse: (value) => {
      const found = values.find((known) => known === value);
      if (found === undefined) throw new Expectation(`one of ${values.join(', ')}`);
      return found;
    },
  });
}

/** Like `choice`, with a default that depends on other variables. */
export function optionalChoice<const T extends string>(
  name: string,
  values: readonly T[],
  meaning: string,
  shownDefault: string,
): Variable<T | null> {
  const first = values[0] as T;
  return declare<T | null>({
    name,
    type: values.join('|'),
    meaning,
    fallback: null,
    shownDefault,
    parse: choice(name, values, first, meaning).read,
  });
}

function parseUrl(value: string, protocols: string[]): URL {
  const expected = `a URL that starts with ${protocols.map((name) => `${name}//`).join(' or ')}`;
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw new Expectation(expected);
  }
  if (!protocols.includes(url.protocol)) throw new Expectation(expected);
  return url;
}

/** Of libpq; others would be read as none of them, and the connection made without TLS. */
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** A database address holds a password, so it counts as a secret. */
export function databaseAddress(name: string, meaning: string, shownDefault: string) {
  return declare<string | null>({
    name,
    type: 'url',
    meaning,
    fallback: null,
    shownDefault,
    secret: true,
    parse: (value) => {
      // A URL knows no user without a host, which PostgreSQL has beside the folder of a socket.
      const whole = value.replace(/^(\w+:\/\/[^/?#]*@)(?=\/)/, '$1localhost');
      const url = parseUrl(whole, ['postgres:', 'postgresql:']);
      const { username, password, pathname, searchParams } = url;
      if (!/^\d+$/.test(searchParams.get('port') ?? '0')) {
        throw new Expectation('a URL whose port is a number');
      }
      if (!sslModes.includes(searchParams.get('sslmode') ?? 'disable')) {
        throw new Expectation(`a URL whose sslmode is one of ${sslModes.join(', ')}`);
      }
      // Left out in silence, `require` with a file, which looks at certificates, would not.
      if ((searchParams.get('sslrootcert') ?? 'system') !== 'system') {
        throw new Expectation('a URL without sslrootcert: NODE_EXTRA_CA_CERTS names that file');
      }
      try {
        for (const part of [username, password, pathname]) decodeURIComponent(part);
      } catch {
        throw new Expectation('a URL whose percent signs begin escapes (%25 is one of its own)');
      }
      return value;
    },
  });
}

/** The address of a mail server holds a password, so it counts as a secret. */
export function smtpAddress(name: string, meaning: string, shownDefault: string) {
  return declare<string | null>({
    name,
    type: 'url',
    meaning,
    fallback: null,
    shownDefault,
    secret: true,
    parse: (value) => {
      const url = parseUrl(value, ['smtp:', 'smtps:']);
      if (url.hostname === '') throw new Expectation('a URL that names a host');
      try {
        decodeURIComponent(url.username + url.password);
      } catch {
        throw new Expectation('a URL whose percent signs begin escapes (%25 is one of its own)');
      }
      return value;
    },
  });
}

/** Without what would end a header, and with one address. */
const senderPattern = /^(?:"?([^"<>\p{Cc}]*?)"?\s*<([^<>]+)>|([^<>]+))$/u;
const senderAddress = /^[!#$%&'*+/=?^_`{|}~.\w-]{1,64}@[^\s@<>"(),:;\\\p{Cc}]{1,250}$/u;

/** Who mail is from: an address, or `Name <address>`. */
export function sender(name: string, meaning: string, shownDefault: string) {
  return declare<{ readonly name: string; readonly address: string } | null>({
    name,
    type: 'text',
    meaning,
    fallback: null,
    shownDefault,
    parse: (value) => {
      const [, label = '', named, bare] = senderPattern.exec(value) ?? [];
      const address = named ?? bare ?? '';
      if (!senderAddress.test(address)) {
        throw new Expectation('an address such as mail@example.com, or Name <mail@example.com>');
      }
      return { name: label, address };
    },
  });
}

/** Scheme, host and port; nothing else. */
export function origin(name: string, meaning: string, shownDefault: string) {
  return declare<string | null>({
    name,
    type: 'origin',
    meaning,
    fallback: null,
    shownDefault,
    parse: (value) => {
      const url = parseUrl(value, ['http:', 'https:']);
      if (url.href !== `${url.origin}/`) {
        throw new Expectation('an origin without path, such as https://api.example.com');
      }
      return url.origin;
    },
  });
}

/** The base address of an upstream server, without a slash at its end. */
export function parseUpstreamUrl(value: string): string {
  const url = parseUrl(value, ['http:', 'https:']);
  if (url.search !== '' || url.hash !== '') throw new Expectation('a URL without ? and #');
  return url.href.replace(/\/+$/, '');
}

/** Addresses and CIDR ranges, separated by commas. */
/** A comma-separated list of words, each at most once. */
export function parseWords<const T extends string>(value: string, words: readonly T[]): T[] {
  const given = new Set(value.split(',').map((word) => word.trim()));
  const known = words.filter((word) => given.delete(word));
  if (given.size > 0) throw new Expectation(`a list of ${words.join(', ')}`);
  return known;
}

export function networks(name: string, meaning: string): Variable<readonly string[]> {
  return declare<readonly string[]>({
    name,
    type: 'list',
    meaning,
    fallback: [],
    shownDefault: 'none',
    parse: (value) => {
      const entries = value.split(',').map((entry) => entry.trim());
      for (const entry of entries) {
        const [address = '', prefix, ...rest] = entry.split('/');
        const bits = isIP(address) === 6 ? 128 : 32;
        const isPrefix = prefix === undefined || /^\d{1,3}$/.test(prefix);
        const fits = isPrefix && Number(prefix ?? 0) <= bits && rest.length === 0;
        // The zone of an address (RFC 4007, 11) is no part of a range.
        if (isIP(address) === 0 || address.includes('%') || !fits) {
          throw new Expectation('addresses or CIDR ranges separated by commas');
        }
      }
      return entries;
    },
  });
}

const serversMax = 8;
const serverPattern = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;

/** DNS servers by address and port, separated by commas. */
export function dnsServers(name: string, meaning: string): Variable<readonly string[]> {
  return declare<readonly string[]>({
    name,
    type: 'list',
    meaning,
    fallback: [],
    shownDefault: "the system's",
    parse: (value) => {
      const entries = value.split(',').map((entry) => entry.trim());
      const isServer = (entry: string) => {
        const [, six, four = '', port] = serverPattern.exec(entry) ?? [];
        const isAddress = six === undefined ? isIP(four) === 4 : isIP(six) === 6;
        return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
      };
      if (!entries.every(isServer) || entries.length > serversMax) {
        throw new Expectation(`at most ${serversMax} of ip:port separated by commas`);
      }
      return [...new Set(entries)];
    },
  });
}

/** What the outbound guard lets through although it is no part of the web. */
export function fetchExceptions(name: string, meaning: string): Variable<readonly string[]> {
  return declare<readonly string[]>({
    name,
    type: 'list',
    meaning,
    fallback: [],
    shownDefault: 'none',
    parse: (value) => {
      const entries = value.split(',').map((entry) => entry.trim());
      const bad = entries.find((entry) => readException(entry) === null);
      if (bad !== undefined) {
        throw new Expectation(
          'host[:port] or network[:port] separated by commas, none of a metadata service',
        );
      }
      return entries;
    },
  });
}
