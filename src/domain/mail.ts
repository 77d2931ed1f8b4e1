/** What an e-mail brings: the receipt to a person who is to have it, or the sobre between companies. */
export const MAIL_KINDS = ['RECEIPT', 'EXCHANGE'] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** Status of an e-mail: under way, taken by the mail server, given up, or not sent since no mail server is configured. */
export const MAIL_STATUSES = ['PENDING', 'SENT', 'FAILED', 'DISABLED'] as const;
export type MailStatus = (typeof MAIL_STATUSES)[number];
