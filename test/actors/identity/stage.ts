// What tests of codes stand on: a real database and the bounds of production. A postbox stands in
// place of what mail does after the commit.
import { randomBytes } from 'node:crypto';
import { type Places, placesOf } from '../../../actors/identity/codes.ts';
import {
  type Guess,
  type Guessed,
  type GuessServices,
  guessCode,
} from '../../../actors/identity/guessing.ts';
import { createIdentityLimits } from '../../../actors/identity/limits.ts';
import { type CodeMail, type SendingServices, sendCode } from '../../../actors/identity/sending.ts';
import type { MailToWrite } from '../../../actors/mail/services.ts';
import { rememberPlaces } from '../../../db/accounts/known-places.ts';
import { createPerson } from '../../../db/accounts/person.ts';
import type { CodeAim } from '../../../db/challenges.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { newId } from '../../../runtime/ids.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

/** Mail that is kept as it was written; only what was committed is sent. */
function createPostbox() {
  const postbox: MailToWrite[] = [];
  const written = new Map<string, MailToWrite>();
  const mail = {
    isAvailable: true,
    async write(_: unknown, wanted: MailToWrite) {
      const id = newId('mail', 0);
      written.set(id, wanted);
      return id;
    },
    send(id: string) {
      const wanted = written.get(id);
      if (wanted !== undefined) postbox.push(wanted);
    },
  };
  return { postbox, mail };
}

interface Asked {
  network?: string;
  browser?: string | null;
  aim?: CodeAim;
  accountId?: string | null;
  challengeId?: string | null;
  mailFor?: (hasOwner: boolean) => CodeMail | null;
}

export class CodeStage {
  readonly #database: TestDatabase;
  readonly #sealer = createSealer(randomBytes(32).toString('base64url'));
  readonly sql: Sql;
  readonly postbox: MailToWrite[];
  readonly services: SendingServices & GuessServices;

  constructor(database: TestDatabase) {
    this.#database = database;
    this.sql = database.pool('general', 12);
    const { postbox, mail } = createPostbox();
    this.postbox = postbox;
    this.services = {
      sql: this.sql,
      sealer: this.#sealer,
      mail,
      identity: { count: () => undefined },
      limits: { identity: createIdentityLimits({ mode: 'production' }) },
      system: { node: 0 },
    };
  }

  places(network: string, browser: string | null = null): Places {
    return placesOf(this.#sealer, { network, browser });
  }

  /** Asks for a code as a request does. */
  ask(address: string, asked: Asked = {}): Promise<string> {
    const { mailFor = () => 'sign_in' } = asked;
    return sendCode(this.services, {
      address,
      aim: asked.aim ?? 'sign_in',
      accountId: asked.accountId ?? null,
      challengeId: asked.challengeId ?? null,
      places: this.places(asked.network ?? '198.51.100.1', asked.browser ?? null),
      mailFor: (owner) => mailFor(owner !== null),
    });
  }

  /** The code in the newest mail to the address. */
  codeTo(address: string): string {
    const newest = this.postbox.filter(({ to }) => to === address).at(-1)?.mail;
    if (newest?.template !== 'code') throw new Error(`no code was sent to ${address}`);
    return newest.code;
  }

  guess(guessed: Guessed, code: string): Promise<Guess> {
    return this.sql.begin((transaction) => guessCode(transaction, this.services, guessed, code));
  }

  signIn(address: string, challengeId: string | null, code: string): Promise<Guess> {
    return this.guess({ aim: 'sign_in', address, challengeId, cookieChallengeId: null }, code);
  }

  /** An account that has proved the address, and was signed in to from these places. */
  async owner(address: string, from: readonly string[] = []): Promise<string> {
    const id = newId('acc', 0);
    const facts = { walletId: newId('wal', 0), email: address, fullName: null };
    await this.sql.begin((transaction) =>
      createPerson(transaction, { id, ...facts, address: 'proved' }),
    );
    if (from.length > 0) await rememberPlaces(this.sql, id, from, 64);
    return id;
  }

  pass(seconds: number): Promise<void> {
    return pass(this.sql, seconds);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

export async function openStage(): Promise<CodeStage> {
  return new CodeStage(await openTestDatabase());
}

/** As if so much time had gone by since everything that has to do with codes. */
export async function pass(sql: Sql, seconds: number): Promise<void> {
  const by = sql`make_interval(secs => ${seconds}::float8)`;
  await sql`UPDATE challenges SET created_at = created_at - ${by},
    expires_at = expires_at - ${by}, used_at = used_at - ${by}`;
  await sql`UPDATE codes SET created_at = created_at - ${by}, expires_at = expires_at - ${by}`;
  await sql`UPDATE code_guesses SET created_at = created_at - ${by}`;
  await sql`UPDATE known_places SET last_at = last_at - ${by}`;
}

/** A code that is not the right one. */
export function wrongCode(right: string, step = 1): string {
  return String((Number(right) + step) % 1_000_000).padStart(6, '0');
}
