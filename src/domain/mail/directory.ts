import { Email } from '../values/email.ts';
import { isDate } from '../values/montevideo.ts';

/** An entry of the authority's list of electronic issuers; days are `YYYY-MM-DD`. */
export interface DirectoryRecord {
  readonly rut: string;
  readonly name: string;
  readonly mail: string | null;
  readonly since: string | null;
  readonly until: string | null;
}

/** The state of sending a CFE to its receiver, who must be an electronic issuer. */
export type ExchangeState = 'PENDING' | 'ON_ITS_WAY' | 'NOT_ELECTRONIC' | 'NO_ADDRESS';

const LONGEST_NAME = 250;

/** Validates a row of the list, which has `0000-00-00` for a missing day and any text as mail. Null without a RUC. */
export function parseDirectoryEntry(row: {
  readonly rut: string;
  readonly name: string;
  readonly mail: string;
  readonly since: string;
  readonly until: string;
}): DirectoryRecord | null {
  if (!/^\d{12}$/.test(row.rut)) return null;
  const day = (text: string): string | null => (isDate(text.slice(0, 10)) ? text.slice(0, 10) : null);
  const mail = Email.safeParse(row.mail);
  return {
    rut: row.rut,
    name: row.name.slice(0, LONGEST_NAME),
    mail: mail.success ? mail.data : null,
    since: day(row.since),
    until: day(row.until),
  };
}

/** True for an electronic issuer, and therefore electronic receiver, on a day. */
export const isIssuerOn = (
  { since, until }: Pick<DirectoryRecord, 'since' | 'until'>,
  day: string,
): boolean => since !== null && since <= day && (until === null || until >= day);

/**
 * Returns the file name of a sobre between companies (docs/authority/sobres.md#the-e-mail-with-a-sobre). `createdOn`: the
 * day in Montevideo.
 */
export const exchangeFileName = (sobre: {
  readonly rut: string;
  readonly idemisor: bigint;
  readonly createdOn: string;
}): string => `Sob_${sobre.rut}_${sobre.createdOn.replaceAll('-', '')}_${sobre.idemisor}.xml`;
