import { ENGLISH } from '../../domain/values/figures.ts';
import { accountsEn } from './accounts.ts';
import { auditEn } from './audit.ts';
import { cfeEn } from './cfePage.ts';
import { creditEn } from './credit.ts';
import { customersEn } from './customers.ts';
import { enterprisesEn } from './enterprises.ts';
import { exportsEn } from './exports.ts';
import { homologationEn } from './homologation.ts';
import { listsEn } from './lists.ts';
import { membersEn } from './members.ts';
import { reportsEn } from './reports.ts';
import { runsEn } from './runs.ts';
import { searchEn } from './search.ts';
import { secondFactorEn } from './secondFactor.ts';
import { webhooksEn } from './webhooks.ts';

/** Texts of the console in English; their type requires the same keys of the other languages. */
export const consoleEn = {
  name: 'English',
  numerals: ENGLISH,
  console: 'CFE console',
  skip: 'Skip to content',
  zone: 'Days and times are those of Montevideo (UTC−3).',
  nav: {
    health: 'Home',
    cfes: 'Receipts',
    stuck: 'Needs attention',
    runs: 'Bulk runs',
    enterprises: 'Companies',
    exports: 'Downloads',
    reports: 'Reports',
    webhooks: 'Webhooks',
    deliveries: 'Webhook deliveries',
    keys: 'API keys',
    members: 'People',
    plan: 'Plan',
    accounts: 'Accounts',
    audit: 'Audit',
  },
  enterprises: enterprisesEn,
  exports: exportsEn,
  homologation: homologationEn,
  lists: listsEn,
  audit: auditEn,
  accounts: accountsEn,
  members: membersEn,
  customers: customersEn,
  webhooks: webhooksEn,
  reports: reportsEn,
  search: searchEn,
  secondFactor: secondFactorEn,
  cfe: cfeEn,
  credit: creditEn,
  ...runsEn,
  signOut: 'Sign out',
  account: 'Your profile',
  language: 'Language',
  never: '–',
  done: 'Done',
  tooManyForms: (most: number, minutes: number): string =>
    `You can send up to ${most} forms, or download files, per hour. Nothing was done; try again in ${minutes} min.`,
  refused: {
    NOT_FOUND: 'Page not found',
    FORBIDDEN: 'You don’t have access',
    INVALID_INPUT: 'Check the form',
    RATE_LIMITED: 'Too many attempts',
    UNAVAILABLE: 'Not available at the moment',
    INTERNAL_ERROR: 'Something went wrong',
    other: 'This could not be done',
    tooLarge: 'What you sent is too large.',
    home: 'Back to home',
    request: 'Request number',
    staleForm: 'This form belongs to an earlier session. Open the page again and repeat it.',
    noRole: 'Your user belongs to no account, or has no second factor. Ask the person who invited you.',
    notForRole:
      'Your role does not include this page or action. You can ask the owner of the account for it.',
  },
  why: {
    NOT_FOUND: 'There is no page at this address, or you don’t have access to it.',
    INVALID_INPUT: 'Something you sent is not valid. Go back and check it.',
    UNAVAILABLE:
      'A service that this needs is not responding, or is overloaded. Your request may have been carried out, or may be later: check before you try again.',
    INTERNAL_ERROR: 'The error is ours. If it happens again, give this number to support.',
    other: 'It was not accepted, and nothing changed.',
  },
  signIn: {
    title: 'Sign in',
    email: 'E-mail address',
    password: 'Password',
    submit: 'Sign in',
    oidc: 'Sign in with your organisation',
    wrong: 'The e-mail address or the password is wrong.',
    limited: (minutes: number): string => `Too many attempts. Try again in ${minutes} min.`,
    codeTitle: 'Second factor',
    code: 'Six-digit code from your authenticator app',
    codeSubmit: 'Continue',
    wrongCode: 'The code is wrong, or was already used. Wait for the next one.',
    oidcRefused: 'Your organisation did not confirm who you are, or gave you no role in this console.',
    busy: 'Too many people are signing in at the moment. Try again in a few seconds.',
    ended: 'Your session had ended, and nothing you sent was done. Sign in and send it again.',
    again: 'Back to sign-in',
    lost: 'Lost your password, or the phone with the codes? Ask support for a new link. The owner of your account can ask for you.',
  },
  invitation: {
    title: 'Welcome',
    about: (email: string): string =>
      `Choose a password for ${email}. It needs at least 12 characters; a phrase of several words is safe and easy to remember.`,
    password: 'New password',
    factorTitle: 'Second factor',
    factorNeeded:
      'Required for operators. Scan the QR code with an authenticator app and type the six digits that it shows.',
    factorOptional:
      'Optional, recommended. Scan the QR code with an authenticator app and type the six digits that it shows, or leave them empty.',
    byHand: 'Or type this key into the app:',
    submit: 'Save password',
    accepted: 'Your password is saved. Sign in with it.',
    qr: 'QR code of the key below',
  },
  faults: {
    'credit.nothing_left': 'Nothing of the receipt is left to credit.',
    'credit.too_much': 'This is more than is left to credit.',
    'credit.too_little': 'Type more than zero.',
    'credit.line': 'Enter what to credit on at least one line.',
    'credit.original': 'This receipt cannot be credited.',
    'credit.ambiguous': 'Type no thousands separator and at most two decimals: 1500.00.',
    'credit.changed':
      'What is left has changed since you looked at the note. Nothing was issued; check it and decide again.',
    'idempotency_key.reused':
      'This form has already issued another note. Open the receipt and look at its credit notes.',
    'enterprise.suspended': 'The company is suspended.',
    'enterprise.not_ready': 'The company is not ready to issue. Its page says what is missing.',
    'enterprise.not_authorized': 'DGI does not authorise the company to issue.',
    'enterprise.not_yet': 'The company does not issue here yet.',
    'enterprise.certificate_missing': 'The company has no certificate. Upload one.',
    'enterprise.certificate_expired': 'The company’s certificate has expired. Upload a new one.',
    'enterprise.certificate_revoked': 'The company’s certificate was revoked. Upload a new one.',
    'cae.none_left': 'The company has no numbers left for credit notes of this type. Upload a CAE.',
    'run.nothing': 'Nothing matches any more. No bulk run was started.',
    'run.more': 'More match now than were shown. Check them and decide again.',
    'run.blind': 'To abandon several, first filter by one reason why they need attention.',
    'run.webhook': 'Choose the webhook to resend the deliveries to.',
    'run.under_way': 'A bulk run for this webhook is already in progress.',
    'report.no_obligation':
      'On that day the company does not report through this service, and another system may have reported it. Nothing was sent. If it is needed all the same, send it from the command line.',
    'run.reason': 'The reason is too long.',
    'password.length': 'A password needs 12 to 200 characters.',
    'password.guessable':
      'This password is easy to guess: it repeats a few characters, or only combines common passwords, your address or account, words of this service and digits. Use several unrelated words.',
    'password.wrong_old': 'The old password is wrong.',
    'second_factor.wrong':
      'The password or the code is wrong, or the code was already used: in that case wait for the next one.',
    'second_factor.gone': 'That key has expired. Start again.',
    'second_factor.needed': 'Operators must have a second factor: it can be replaced, but not turned off.',
    'second_factor.none': 'The second factor is already off.',
    'second_factor.by_invitation':
      'Operators set up their second factor by invitation. Ask an administrator of the service for one.',
    'second_factor.of_provider':
      'You sign in with your organisation: your organisation manages the second factor.',
    'user.operator':
      'This person is an operator. Operators are added, invited, signed out and disabled from the command line only.',
    'user.dismissed':
      'This person signed in with their organisation and was disabled. They can be enabled again from the command line only.',
    'invitation.gone':
      'This invitation was already used, was replaced by a newer one, or has expired (it is valid for 24 hours). Ask for another.',
    'mail.bounced':
      'This address permanently rejected an e-mail of the account. Correct it, or ask support to try it again.',
    'mail.sandbox':
      'Sandbox receipts are sent only to addresses that the operator of the service has enabled.',
    'export.nothing': 'The company has no receipts dated in that month.',
    'export.account_busy': 'Two files of this account are already being prepared. Wait until one is ready.',
    'export.too_many': 'There are already ten files of this company. Wait until the oldest is deleted.',
    'once.made_already':
      'This was already created, and its secret was shown once. If you did not copy it, revoke or delete it and create another.',
    'api_key.too_many': 'The account already has the maximum number of keys. Revoke one first.',
    'webhook.too_many': 'The account already has the maximum number of webhooks. Delete one first.',
    'webhook.url.malformed': 'Address: must be a complete https address.',
    'webhook.url.too_long': 'Address: has too many characters.',
    'webhook.url.https': 'Address: must begin with https.',
    'webhook.url.credentials': 'Address: must not contain a user name or password.',
    'webhook.url.fragment': 'Address: must not contain #.',
    'webhook.url.host':
      'Address: must be the name of a server on the internet, not an IP address or an internal host.',
    'webhook.url.port': 'Address: the port must be 443, or 1024 and above.',
    'webhook.events.none': 'Events: select at least one.',
    'delivery.webhook_removed': 'The webhook was deleted: nothing more is sent to it.',
    'member.already': 'This person already belongs to the account.',
    'member.last_owner': 'This is the only owner of the account. Make someone else an owner first.',
    'member.too_many_invitations':
      'The account has reached today’s limit of invitations. Try again tomorrow.',
    'invitation.sign_in':
      'This invitation is for someone who already has a user. Sign in with that address first.',
    'filter.too_many': 'No more filters can be saved (30 per list, 200 in total). Delete one first.',
    'console.busy':
      'Too many pages are loading for you, your account or your network. Nothing was done; try again in a few seconds.',
    'files.too_many':
      'Too many downloads are in progress for you or your account. Try again when one has finished.',
    'code.wrong': 'This is not the code that your app shows now.',
    'database.away':
      'The console cannot reach its data. Try again in a few seconds; if you sent a form, check first whether it was done.',
    'oidc.away': 'Your organisation’s sign-in is not responding at the moment. Try again in a few seconds.',
  },
  me: {
    title: 'Your profile',
    operator: {
      VIEWER: 'Operator, read-only',
      SUPPORT: 'Operator, support',
      ADMIN: 'Operator, administration',
    },
    member: (account: string, role: string): string => `${account}: ${role}`,
    sessions: 'Open sessions',
    browser: 'Browser',
    address: 'IP address',
    since: 'Since',
    seen: 'Last used',
    here: 'this session',
    end: 'End this session',
    endOthers: 'End all other sessions',
    act: 'End',
    ended: 'The session has ended.',
    endedOthers: 'All other sessions have ended.',
    password: 'Change password',
    old: 'Current password',
    new: 'New password',
    change: 'Change password',
    changed: 'Your password has been changed. All other sessions have ended.',
  },
  environments: { production: 'production', sandbox: 'sandbox' },
  health: {
    title: 'Home',
    authority: 'DGI',
    up: 'operational',
    down: 'not responding',
    since: 'since',
    service: 'Service',
    waiting: 'Receipts waiting',
    endpoints: {
      reception: 'reception',
      consultation: 'queries',
      registry: 'RUT look-up',
      credentials: 'e-invoicing access',
      rates: 'exchange rates (central bank)',
    },
    pending: 'Awaiting DGI’s answer',
    pendingNone: 'No receipts are awaiting an answer.',
    oldest: 'Oldest',
    stuck: 'Needs attention',
    stuckNone: 'No receipts need attention.',
    reports: 'Daily reports',
    reportsNone: 'All reports are up to date.',
    due: 'to send',
    late: (n: number): string => `${n} overdue`,
    firstDue: 'Oldest day, or first deadline',
    warnings: 'Expiring soon and running low',
    warningsNone: 'Nothing expires within 30 days, and there are enough numbers.',
    more: 'There are more.',
    allWarnings: 'All that expire or run low',
    allFailed: 'All failed deliveries',
    enterprise: 'Company',
    document: 'Document',
    certificate: 'certificate',
    ends: 'Expires',
    left: 'Numbers left',
    webhooks: 'Webhooks with failed deliveries',
    webhooksNone: 'No deliveries failed in the last 24 hours, and none are being retried.',
    url: 'Address',
    failed: 'Failed (24 h)',
    retried: 'Retrying',
    count: 'Count',
    reason: 'Reason',
    environment: 'Environment',
    status: 'Status',
    withSupport: 'With support',
    withSupportNone: 'No receipts are with support.',
  },
  ages: {
    seconds: (n: number): string => `${n} s`,
    minutes: (n: number): string => `${n} min`,
    hours: (n: number): string => `${n} h`,
    days: (n: number): string => `${n} d`,
  },
};

/** Texts of one language. */
export type Texts = typeof consoleEn;
