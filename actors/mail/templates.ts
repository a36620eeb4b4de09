// What each mail says, as plain text and as HTML. No mail holds a link that does anything: scanners
// follow them. That of an invitation leads to a page where one signs in. What somebody else chose
// is one line of text, never markup.
import type { Mail } from './services.ts';

export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

/** A paragraph, or a code or an address of ours on a line of its own. */
type Part = string | { code: string } | { link: string };

interface Written {
  subject: string;
  parts: Part[];
}

type CodeMail = Extract<Mail, { template: 'code' }>;

const unasked = 'If it was not you, do nothing: without the code nobody gets anywhere.';
const notYou = 'If it was not you, sign in, sign out everywhere, and choose a new password.';

const purposes: Record<CodeMail['purpose'], { subject: string; lead: string }> = {
  sign_in: { subject: 'Your code to sign in', lead: 'This code signs you in:' },
  sign_up: { subject: 'Your code to sign up', lead: 'This code makes your account:' },
  verify: {
    subject: 'Your code to confirm your address',
    lead: 'This code confirms that the address is yours:',
  },
  reset: {
    subject: 'Your code for a new password',
    lead: 'This code lets you choose a new password:',
  },
  new_address: {
    subject: 'Your code to confirm your new address',
    lead: 'This code makes this the address of your account:',
  },
};

const pauses: Record<Extract<Mail, { template: 'top_up_paused' }>['why'], string> = {
  needs_person: 'Your bank wants to hear from you before your saved card is charged.',
  declined: 'Your saved card was declined.',
  unsellable: 'What you chose to buy is not sold any more, or not with your saved card.',
};

function writeCode({ purpose, code, minutes }: CodeMail): Written {
  const { subject, lead } = purposes[purpose];
  const validity = `It is good for ${minutes} minutes. Type it where you were asked for it.`;
  return { subject, parts: [lead, { code }, `${validity} Tell it to nobody.`, unasked] };
}

type MoneyMail = Extract<Mail, { template: 'purchase' | 'refund' | 'top_up_paused' }>;

function writeMoney(mail: MoneyMail): Written {
  switch (mail.template) {
    case 'purchase':
      return {
        subject: mail.byItself ? 'Credits were bought for you' : 'Your purchase',
        parts: [
          `${mail.name} for ${mail.priceText}: your credits are in your wallet.`,
          ...(mail.byItself
            ? ['Your credits fell below what you chose, so your saved card was charged.']
            : []),
          `The purchase is ${mail.id}. Its invoice is with your purchases.`,
        ],
      };
    case 'refund':
      return {
        subject: 'A refund of your purchase',
        parts: [
          `${mail.amountText} of your purchase ${mail.id} go back to where they came from.`,
          'The credits of that part were taken from your wallet.',
        ],
      };
    case 'top_up_paused':
      return {
        subject: 'Automatic top-ups are paused',
        parts: [pauses[mail.why], 'Nothing is charged until you turn them on again.'],
      };
  }
}

type DomainMail = Extract<Mail, { template: 'domain_failing' | 'domain_lapsed' }>;

function writeDomain(mail: DomainMail): Written {
  const { domain, organization } = mail;
  if (mail.template === 'domain_lapsed') {
    return {
      subject: 'A domain of your organization is lost',
      parts: [
        `${domain} does not count as proved by ${organization} any more.`,
        'Its record was missing for 30 days. To prove the domain again, claim it anew.',
      ],
    };
  }
  return {
    subject: 'A domain of your organization fails its check',
    parts: [
      `The record that proves ${domain} for ${organization} is not found any more.`,
      `The domain counts as proved until ${mail.untilText}. Put the record back before.`,
    ],
  };
}

type OrganizationMail = Extract<Mail, { template: 'invitation' | 'organization_owner' }>;

function writeOrganization(mail: OrganizationMail): Written {
  if (mail.template === 'organization_owner') {
    return {
      subject: 'Your organization has another owner',
      parts: [
        `Whoever runs this service has made ${mail.newOwner} the canonical owner of ${mail.name}.`,
        'The reason stands in the audit of the organization.',
      ],
    };
  }
  return {
    subject: 'You are invited to an organization',
    parts: [
      `${mail.inviter} invites you to ${mail.name}. That is good until ${mail.untilText}.`,
      'Sign in with this address to accept or decline it:',
      { link: mail.link },
      'If you do not know who asks, do nothing.',
    ],
  };
}

function write(mail: Mail): Written {
  switch (mail.template) {
    case 'code':
      return writeCode(mail);
    case 'no_account':
      return {
        subject: 'There is no account with your address',
        parts: [
          'Somebody asked for a code to sign in with this address. No account has it.',
          'If it was you, sign up first, or use the address that you signed up with.',
          'If it was not you, do nothing.',
        ],
      };
    case 'address_changed':
      return {
        subject: 'The address of your account was changed',
        parts: [
          `Your account now has the address ${mail.newAddress}. This one is no longer its address.`,
          'If it was not you, tell whoever runs this service at once.',
        ],
      };
    case 'password_changed':
      return {
        subject: 'Your password was changed',
        parts: ['The password of your account was changed. Other sessions have ended.', notYou],
      };
    case 'app_cut_off':
      return {
        subject: 'An app was cut off from your account',
        parts: [
          `A token of ${mail.client} was used twice, as it is when somebody has copied it.`,
          'The app can do nothing in your account any more. To go on with it, connect it again.',
        ],
      };
    case 'account_deleting':
      return {
        subject: 'Your account will be deleted',
        parts: [
          `Your account is being deleted. Until ${mail.untilText} you can undo it: sign in.`,
          'After that everything in it is erased for good.',
        ],
      };
    case 'export_ready':
      return {
        subject: 'Your export is ready',
        parts: [
          `The export of your account is ready until ${mail.untilText}.`,
          'Sign in to download it from the page of your account.',
        ],
      };
    case 'purchase':
    case 'refund':
    case 'top_up_paused':
      return writeMoney(mail);
    case 'domain_failing':
    case 'domain_lapsed':
      return writeDomain(mail);
    case 'invitation':
    case 'organization_owner':
      return writeOrganization(mail);
    case 'test':
      return {
        subject: 'A test of mail',
        parts: ['An administrator has sent this mail to see whether mail arrives. It does.'],
      };
  }
}

/** Control characters, line ends, and what turns the direction of text around. */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** Texts as they may stand in a mail: one line, of a bounded length. */
function cleanText(text: string, charactersMax: number): string {
  const line = text.toWellFormed().replace(unsafe, ' ').trim();
  const characters = [...line];
  if (characters.length <= charactersMax) return line;
  return `${characters.slice(0, charactersMax).join('')}…`;
}

/** The mail with every text of it cleaned. */
export function cleanMail(mail: Mail, charactersMax: number): Mail {
  const members = Object.entries(mail).map(([name, value]) => [
    name,
    typeof value === 'string' ? cleanText(value, charactersMax) : value,
  ]);
  // The same members, each with a value of its own type.
  return Object.fromEntries(members) as Mail;
}

function escapeHtml(text: string): string {
  const escapes: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' };
  return text.replace(/[&<>"']/g, (found) => `&${escapes[found] ?? '#39'};`);
}

function htmlOf(part: Part): string {
  if (typeof part === 'string') return `<p>${escapeHtml(part)}</p>`;
  if ('link' in part) {
    const address = escapeHtml(part.link);
    return `<p><a href="${address}">${address}</a></p>`;
  }
  const style = 'font: 700 28px/1.4 monospace; letter-spacing: 4px';
  return `<p style="${style}">${escapeHtml(part.code)}</p>`;
}

export function renderMail(mail: Mail): RenderedMail {
  const { subject, parts } = write(mail);
  const text = parts.map((part) =>
    typeof part === 'string' ? part : `    ${'link' in part ? part.link : part.code}`,
  );
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>`,
    '<body style="font: 16px/1.5 sans-serif">',
    ...parts.map(htmlOf),
    '</body>',
    '</html>',
  ];
  return { subject, text: `${text.join('\n\n')}\n`, html: `${html.join('\n')}\n` };
}
