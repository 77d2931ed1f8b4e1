import { createSecureContext, rootCertificates } from 'node:tls';
import { createTransport, type NodemailerError } from 'nodemailer';
import { DEADLINES } from '../domain/authority/deadlines.ts';
import type { MailError, MailOutcome } from '../domain/mail/mail.ts';

/** The mail server for our e-mails, and their signature. */
export interface SmtpSettings {
  /** `smtps:` (TLS from the start) or `smtp:` (STARTTLS), with percent-encoded user and password if needed. */
  readonly url: string;
  /** Whether TLS is optional; development only. */
  readonly mayBeClear: boolean;
  /** Certificate authorities in PEM beside those that Node trusts. */
  readonly ca?: string | undefined;
  /** The sender of all e-mails, which also receives bounces. */
  readonly from: string;
  /** The DKIM key for the domain of `from`. */
  readonly dkim?: { readonly selector: string; readonly privateKey: string } | undefined;
}

/** An e-mail for sending: equal messages give equal bytes, except for the DKIM signature. */
export interface MailMessage {
  /** Without angle brackets. */
  readonly messageId: string;
  readonly date: Date;
  /** The sender's name, shown before our address. */
  readonly fromName: string;
  readonly replyTo: string | null;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly attachments: readonly {
    readonly name: string;
    readonly type: string;
    readonly content: Uint8Array;
  }[];
}

/** Sends e-mails through one mail server. */
export interface Mailer {
  /** The domain of our address. */
  readonly domain: string;
  /** Makes one attempt; every answer of the server is an outcome. */
  send(message: MailMessage): Promise<MailOutcome>;
}

/** The most characters stored of the server's answer. */
const ANSWER_CHARACTERS = 500;

/** Creates a mailer for one server. Every e-mail has its own connection, so that none waits for another. */
export function createMailer({ url, mayBeClear, ca, from, dkim }: SmtpSettings): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'smtps:';
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    secure,
    ...(port === '' ? {} : { port: Number(port) }),
    requireTLS: !secure && !mayBeClear,
    ...(username === '' ? {} : { auth }),
    tls: {
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { secureContext: createSecureContext({ ca: [...rootCertificates, ca] }) }),
    },
    connectionTimeout: DEADLINES.mailConnect,
    dnsTimeout: DEADLINES.mailConnect,
    greetingTimeout: DEADLINES.mailAnswer,
    socketTimeout: DEADLINES.mailAnswer,
    // A text in an e-mail must never be opened as a file or URL.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim && { dkim: { domainName: domain, keySelector: dkim.selector, privateKey: dkim.privateKey } }),
  });
  return {
    domain,
    async send(message) {
      const started = performance.now();
      const outcome = await transport.sendMail(toMailFields(message, from)).then(
        ({ response }) => ({
          smtpCode: codeOf(response),
          error: null,
          answer: start(response),
          isFinal: false,
          isBounce: false,
        }),
        toFailedOutcome,
      );
      return { ...outcome, milliseconds: Math.round(performance.now() - started) };
    },
  };
}

/** Returns nodemailer's fields. Addresses are never parsed from text: a comma in a name adds no receiver. */
function toMailFields(message: MailMessage, from: string) {
  const { messageId, date, fromName, replyTo, to, subject, text, html, attachments } = message;
  return {
    messageId: `<${messageId}>`,
    date,
    from: { name: fromName, address: from },
    to: { name: '', address: to },
    ...(replyTo === null ? {} : { replyTo: { name: '', address: replyTo } }),
    envelope: { from, to: [to] },
    subject,
    text,
    ...(html === undefined ? {} : { html }),
    // Prevents out-of-office replies.
    headers: { 'Auto-Submitted': 'auto-generated' },
    // The boundary between the parts is the same at every attempt.
    baseBoundary: messageId.replace(/[^\w-]/g, '').slice(0, 40),
    attachments: attachments.map(({ name, type, content }) => ({
      filename: name,
      contentType: type,
      content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
    })),
  };
}

/** The server requires a login or refuses ours: RFC 4954 §6. */
const LOGIN_CODES = [530, 534, 535, 538];
/** A failure of the session, not of the e-mail: RFC 5321 §4.2.2. */
const BAD_SEQUENCE = 503;
/** Without an enhanced code: the mailbox does not exist or its name is not allowed (RFC 5321 §4.2.2). */
const NO_MAILBOX = [550, 551, 553];
/** Enhanced codes of an address that does not exist, has moved or is disabled: RFC 3463 §3.2 and §3.3. */
const NO_ADDRESS = /^5\.1\.[1236]$|^5\.2\.1$/;

/** Our names for nodemailer's errors, for answers without a decisive code. */
const ERRORS: Readonly<Record<string, MailError>> = {
  EAUTH: 'login',
  ENOAUTH: 'login',
  EDNS: 'dns',
  ETLS: 'tls',
  ETIMEDOUT: 'timeout',
  EENVELOPE: 'address',
};
const TLS = /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;

/** Converts a failure to an outcome. Only an answer to the e-mail itself, 5xx, is final. */
function toFailedOutcome(error: NodemailerError): Omit<MailOutcome, 'milliseconds'> {
  const { code = '', responseCode, response } = error;
  const smtpCode = responseCode ?? null;
  const answer = response === undefined ? null : start(response);
  if (code === 'EAUTH' || (smtpCode !== null && LOGIN_CODES.includes(smtpCode))) {
    return { smtpCode, error: 'login', answer, isFinal: false, isBounce: false };
  }
  if (smtpCode !== null) {
    const concernsMail = code === 'EENVELOPE' || code === 'EMESSAGE';
    const isFinal = concernsMail && smtpCode >= 500 && smtpCode !== BAD_SEQUENCE;
    const isBounce = isFinal && error.command === 'RCPT TO' && concernsAddress(smtpCode, response ?? '');
    return { smtpCode, error: 'refused', answer, isFinal, isBounce };
  }
  const mailError = toMailError(error);
  return { smtpCode, error: mailError, answer, isFinal: mailError === 'address', isBounce: false };
}

/**
 * Returns whether an answer to RCPT TO concerns the address itself. Relays also refuse RCPT TO by policy, reputation or
 * a full mailbox: then the next e-mail may still arrive.
 */
function concernsAddress(smtpCode: number, response: string): boolean {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1];
  return enhanced === undefined ? NO_MAILBOX.includes(smtpCode) : NO_ADDRESS.test(enhanced);
}

function toMailError(error: NodemailerError): MailError {
  const cause = error.cause as { code?: string } | undefined;
  const codes = [error.code ?? '', error.errno, cause?.code].filter((code) => typeof code === 'string');
  if (codes.some((code) => TLS.test(code)) || /certificate|TLS/i.test(error.message)) return 'tls';
  if (codes.includes('ECONNREFUSED') || error.message.includes('ECONNREFUSED')) return 'connection_refused';
  return ERRORS[error.code ?? ''] ?? 'connection';
}

const codeOf = (response: string): number | null => Number(/^\d{3}/.exec(response)?.[0] ?? 0) || null;
/** PostgreSQL's text cannot hold NUL. */
const start = (response: string): string => response.slice(0, ANSWER_CHARACTERS).replaceAll('\0', '\u{FFFD}');
