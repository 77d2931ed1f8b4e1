import { readFileSync } from 'node:fs';
import { ConfigurationError, type readConfig } from '../config.ts';
import { createMailer, type Mailer } from '../mail/smtp.ts';

/** Variables that configure e-mail. */
export const MAIL_VARIABLES = [
  'CFE_DEVELOPMENT',
  'CFE_SMTP_URL',
  'CFE_SMTP_CA_FILE',
  'CFE_MAIL_FROM',
  'CFE_MAIL_DKIM_SELECTOR',
  'CFE_MAIL_DKIM_KEY',
  'CFE_MAIL_SANDBOX_ALLOW',
] as const;

/**
 * Opens the client of the configured mail server; null without one. Throws ConfigurationError for contradictory
 * settings.
 */
export function openMailer(
  config: ReturnType<typeof readConfig<(typeof MAIL_VARIABLES)[number]>>,
): Mailer | null {
  const { CFE_SMTP_URL: url, CFE_MAIL_FROM: from, CFE_SMTP_CA_FILE: caFile } = config;
  const { CFE_MAIL_DKIM_SELECTOR: selector, CFE_MAIL_DKIM_KEY: privateKey } = config;
  if (url === '') return null;
  if (from === '')
    throw new ConfigurationError('CFE_SMTP_URL is set, but CFE_MAIL_FROM is not; e-mails need a sender');
  if ((selector === '') !== (privateKey === '')) {
    throw new ConfigurationError(
      'CFE_MAIL_DKIM_SELECTOR and CFE_MAIL_DKIM_KEY belong together; set both or neither',
    );
  }
  return createMailer({
    url,
    from,
    mayBeClear: config.CFE_DEVELOPMENT,
    ca: caFile === '' ? undefined : readFileSync(caFile, 'utf8'),
    dkim: selector === '' ? undefined : { selector, privateKey },
  });
}
