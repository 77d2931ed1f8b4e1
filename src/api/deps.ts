import type { AuthorityTestKit } from '../commands/equipSandbox.ts';
import type { IssueDeps } from '../commands/issueCfe.ts';
import type { CredentialsCheckDeps } from '../commands/requestCredentialsCheck.ts';
import type { UpdateEnterpriseDeps } from '../commands/updateEnterprise.ts';
import type { UploadCertificateDeps } from '../commands/uploadCertificate.ts';
import type { ApiKeys } from '../crypto/apiKeys.ts';
import type { RequestHash } from '../crypto/requestHash.ts';
import type { Tokens } from '../crypto/tokens.ts';
import type { Database } from '../db/orm.ts';
import type { RegistryRecord } from '../domain/registryRecord.ts';
import type { Logger } from '../logger.ts';
import type { ReceiptPdfs } from '../print/receiptPdfs.ts';
import type { AuthorityWatch } from './authorityWatch.ts';
import type { VerdictWatch } from './verdictWatch.ts';

/** What every handler is handed: what commands need, and the keys of the service. */
export interface ApiDeps
  extends IssueDeps,
    UpdateEnterpriseDeps,
    UploadCertificateDeps,
    CredentialsCheckDeps {
  readonly outbox: IssueDeps['outbox'];
  /** The time by which tokens run and requests are counted; `clock`, by which dates go, may be moved by tests. */
  readonly realClock: () => Date;
  /** The same database by other connections, for counting requests: it waits for no handler's work, nor that for it. */
  readonly counters: Database;
  /** Where enterprises get test certificates and test CAEs; null where no sandbox is configured. */
  readonly testKit: AuthorityTestKit | null;
  /** Makes and reads access tokens. */
  readonly tokens: Tokens;
  /** Tells whether an API key is the one that is stored. */
  readonly apiKeys: ApiKeys;
  /** Keyed hash of a request that carries an Idempotency-Key. */
  readonly requestHash: RequestHash;
  /** Tells when CFEs have their verdicts. */
  readonly verdicts: VerdictWatch;
  /** Tells how the authority stands. */
  readonly authority: AuthorityWatch;
  /** The printed forms of receipts. */
  readonly receiptPdfs: ReceiptPdfs;
  /** Where the API is reached from outside, without /v1 and without a slash at its end. */
  readonly publicUrl: string;
  readonly logger: Logger;
  /** Asks the authority's registry; null for a RUT that it does not know. Refuses while it is silent (UNAVAILABLE). */
  readonly lookUpRut: (rut: string) => Promise<RegistryRecord | null>;
}
