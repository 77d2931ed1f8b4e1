import type { AuthorityTestKit } from '../commands/enterprises/equipSandbox.ts';
import type { CredentialsCheckDeps } from '../commands/enterprises/requestCredentialsCheck.ts';
import type { UpdateEnterpriseDeps } from '../commands/enterprises/updateEnterprise.ts';
import type { UploadCertificateDeps } from '../commands/enterprises/uploadCertificate.ts';
import type { IssueDeps } from '../commands/receipts/issueCfe.ts';
import type { ApiKeys } from '../crypto/apiKeys.ts';
import type { RequestHash } from '../crypto/requestHash.ts';
import type { Tokens } from '../crypto/tokens.ts';
import type { Database } from '../db/orm.ts';
import type { RegistryRecord } from '../domain/enterprises/registryRecord.ts';
import type { Logger } from '../logger.ts';
import type { ReceiptPdfs } from '../print/receiptPdfs.ts';
import type { AuthorityWatch } from './authorityWatch.ts';
import type { VerdictWatch } from './receipts/verdictWatch.ts';

/** Dependencies of every handler: the commands' dependencies, and the API's own. */
export interface ApiDeps
  extends IssueDeps,
    UpdateEnterpriseDeps,
    UploadCertificateDeps,
    CredentialsCheckDeps {
  readonly outbox: IssueDeps['outbox'];
  /** The clock of tokens and request counts; only `clock`, for business dates, can be moved in tests. */
  readonly realClock: () => Date;
  /**
   * The same database through separate connections, so that counters and handlers never wait for each other.
   */
  readonly counters: Database;
  /** Source of test certificates and test CAEs; null when no sandbox is configured. */
  readonly testKit: AuthorityTestKit | null;
  readonly tokens: Tokens;
  readonly apiKeys: ApiKeys;
  /** Keyed hash of a request with an Idempotency-Key. */
  readonly requestHash: RequestHash;
  readonly verdicts: VerdictWatch;
  readonly authority: AuthorityWatch;
  readonly receiptPdfs: ReceiptPdfs;
  /** The API's public URL, without /v1 and without a trailing slash. */
  readonly publicUrl: string;
  readonly logger: Logger;
  /**
   * Queries the authority's registry; null for an unknown RUT. Throws UNAVAILABLE when it does not respond.
   */
  readonly lookUpRut: (rut: string) => Promise<RegistryRecord | null>;
}
