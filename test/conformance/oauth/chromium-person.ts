// A person in a real Chromium: signs in by the code from the mail, reads what an app asks for, and
// clicks.
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { IdentityBed } from '../../routes/identity/bed.ts';

export const waitMs = 20_000;
/** The page takes no press before a person can have read it. */
export const readMs = 700;

export class ChromiumPerson {
  readonly email: string;
  /** Scripts that failed, and breaches of the policy of a page. */
  readonly faults: string[] = [];
  readonly #context: BrowserContext;
  readonly #identity: IdentityBed;

  private constructor(context: BrowserContext, identity: IdentityBed, email: string) {
    this.email = email;
    this.#context = context;
    this.#identity = identity;
  }

  /** A new account, and a browser that nobody is signed in on yet. */
  static async open(browser: Browser, identity: IdentityBed): Promise<ChromiumPerson> {
    const { email } = await identity.signUp();
    // An app's own server may have a certificate that nobody else knows.
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    return new ChromiumPerson(context, identity, email);
  }

  /** Goes where an app sends its person, in a tab of its own. */
  async open(asked: URL): Promise<Page> {
    const page = await this.#context.newPage();
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) this.faults.push(message.text());
    });
    await page.goto(asked.href);
    return page;
  }

  /** Types the address and the code from the mail, on the page for it; it leads on by itself. */
  async signIn(page: Page): Promise<void> {
    await page.waitForURL(/\/signin\?/, { timeout: waitMs });
    await page.fill('#email', this.email);
    await page.click('#address-form button[type=submit]');
    await page.locator('#code:visible').waitFor({ timeout: waitMs });
    await page.fill('#code', await this.#identity.code(this.email));
    await page.click('#code-form button[type=submit]');
  }

  /** Reads the approval page and clicks; what it said. */
  async allow(page: Page): Promise<{ title: string; outcome: string }> {
    await page.locator('#scopes li').first().waitFor({ timeout: waitMs });
    assert.equal(await page.textContent('#account-address'), this.email);
    const title = (await page.textContent('#title')) ?? '';
    const outcome = (await page.textContent('#outcome')) ?? '';
    await page.waitForTimeout(readMs);
    await page.click('#approve');
    return { title, outcome };
  }
}
