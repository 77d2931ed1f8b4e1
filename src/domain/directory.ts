import { Email } from './email.ts';
import { isDate } from './montevideo.ts';

/** What the authority's list of electronic issuers tells of a RUC; days are `YYYY-MM-DD`. */
export interface DirectoryRecord {
  readonly rut: string;
  readonly name: string;
  readonly mail: string | null;
  readonly since: string | null;
  readonly until: string | null;
}

/** What came of a CFE that its receiver is to have, should that be an electronic issuer itself. */
export type ExchangeState = 'PENDING' | 'ON_ITS_WAY' | 'NOT_ELECTRONIC' | 'NO_ADDRESS';

const LONGEST_NAME = 250;

/** What counts of a row of the list: where there is no day it writes `0000-00-00`, and a mail may be anything. Null without a RUC. */
export function parseDirectoryEntry(listed: {
  readonly rut: string;
  readonly name: string;
  readonly mail: string;
  readonly since: string;
  readonly until: string;
}): DirectoryRecord | null {
  if (!/^\d{12}$/.test(listed.rut)) return null;
  const day = (text: string): string | null => (isDate(text.slice(0, 10)) ? text.slice(0, 10) : null);
  const mail = Email.safeParse(listed.mail);
  return {
    rut: listed.rut,
    name: listed.name.slice(0, LONGEST_NAME),
    mail: mail.success ? mail.data : null,
    since: day(listed.since),
    until: day(listed.until),
  };
}

/** Whether somebody is an electronic issuer, and so an electronic receiver, on a day. */
export const isIssuerOn = (
  { since, until }: Pick<DirectoryRecord, 'since' | 'until'>,
  day: string,
): boolean => since !== null && since <= day && (until === null || until >= day);

/**
 * The name of the file of a sobre between companies (docs/authority/sobres.md#the-e-mail-with-a-sobre); `createdOn` is
 * a day in Montevideo.
 */
export const exchangeFileName = (sobre: {
  readonly rut: string;
  readonly idemisor: bigint;
  readonly createdOn: string;
}): string => `Sob_${sobre.rut}_${sobre.createdOn.replaceAll('-', '')}_${sobre.idemisor}.xml`;
