// Who may have a new account, over all settings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maySignUp } from '../../../actors/identity/sign-up.ts';

const at = 'person@example.com';

test('a new account needs an open door, a fitting domain, or an invitation', () => {
  const cases = [
    ['open', [], false, true],
    ['open', ['example.com'], false, true],
    ['open', ['example.org'], false, false],
    ['open', ['example.org'], true, true],
    ['open', ['com'], false, false],
    ['invited', [], false, false],
    ['invited', ['example.com'], false, false],
    ['invited', [], true, true],
    ['closed', [], false, false],
    ['closed', ['example.com'], true, false],
  ] as const;
  for (const [signup, emailDomains, isInvited, may] of cases) {
    assert.equal(maySignUp({ signup, emailDomains }, at, isInvited), may, `${signup}`);
  }
});
