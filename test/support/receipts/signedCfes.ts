import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { CfeIdParts } from '../../../src/domain/receipts/cfeId.ts';
import type { CfeStatus } from '../../../src/domain/receipts/cfeStatus.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import type { RejectionReason } from '../../../src/domain/receipts/rejection.ts';

/** The XML that stands in for a signed CFE: with accents, so that bytes and characters differ. */
export const SIGNED_XML = readFileSync(
  join(import.meta.dirname, '../../fixtures/receipts/ETICKET/06-markupAccentsAndEmoji.xml'),
  'utf8',
);
/** Base64 with a slash and a plus sign in its first six characters. */
const DIGEST = 'aB+/9zq4mJ0Xh1c7Vn2yQe5sLk8dWf3gTu6iRo0pAxE=';

/** Brings a CFE to a status past the workflow: signed with SIGNED_XML, unless it is PENDING. */
export async function bringTo(
  orm: Orm,
  cfe: CfeIdParts & { rut: string; environment?: Environment },
  { status, rejection = null }: { status: CfeStatus; rejection?: RejectionReason[] | null },
): Promise<void> {
  const { rut, environment = 'production', type, sequence } = cfe;
  const settledAt = status === 'PENDING' || status === 'RECEIVED' ? null : new Date();
  const signed = status === 'PENDING' ? {} : { signedXml: SIGNED_XML, digest: DIGEST };
  await orm.em
    .fork()
    .nativeUpdate(Cfe, { rut, environment, type, sequence }, { status, rejection, settledAt, ...signed });
}
