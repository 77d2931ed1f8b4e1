import type { X509Certificate } from 'node:crypto';
import { certifiedChain } from '../../crypto/certificateAuthorities.ts';
import type { LookUpRevocation, RevocationState } from '../../crypto/revocation.ts';
import { readPemCertificates } from '../../crypto/x509.ts';
import { listUncheckedCertificates, storeChecks } from '../../db/enterprises/certificates.ts';
import { lockEnterprise } from '../../db/enterprises/enterprises.ts';
import {
  listRutsWithDocuments,
  listRutsWithUnreportedExpiries,
  loadWarnedEnterprises,
  recordDueWarnings,
  recordExpiryEvent,
} from '../../db/enterprises/warnings.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import { annulUnusedNumbers, listExpiredCaes } from '../../db/numbers/numbers.ts';
import type { Orm } from '../../db/orm.ts';
import { lockNumbering } from '../../db/receipts/cfes.ts';
import { recordEnterpriseChanges } from '../../db/webhooks/events.ts';
import type { ExpiriesResult } from '../../domain/authority/activityResults.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { LEAST_UUID } from '../../domain/values/uuid.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';

/** Enterprises, or CAEs, read at a time. */
const PAGE = 100;

/** How long a check of a certificate counts; the hourly run checks the certificates that are due. */
const CHECK_MILLISECONDS = 23 * 3_600_000;
const RETRY_MILLISECONDS = 4 * 3_600_000;
/** Certificates looked up together: they share the lists of their authorities. */
const LOOKED_UP_TOGETHER = 50;

interface ExpiryDeps {
  orm: Orm;
  clock: () => Date;
  /** Enterprises, or CAEs, read at a time; default 100. */
  page?: number;
  /** The trusted authorities and the revocation look-up; if omitted, certificates are not checked. */
  certificates?: { authorities: readonly X509Certificate[]; lookUpRevocation: LookUpRevocation };
}

/**
 * Annuls the unused numbers of expired CAEs (docs/contract.md#numbers), then records `enterprise.updated`
 * once for each enterprise with an expired certificate or CAE, and every due warning, one transaction per
 * enterprise. Returns the number of enterprises with an `enterprise.updated`.
 */
export function createRecordExpiries(deps: ExpiryDeps): Activity<'recordExpiries'> {
  return () =>
    withHeartbeat(async () => {
      await annulAllNumbers(deps);
      const result = await recordAllExpiries(deps);
      await recordAllWarnings(deps);
      // Last: servers of authorities may be slow.
      await checkAllCertificates(deps);
      return result;
    });
}

/** Annuls unused numbers. A request from before midnight that takes its number later finds none left and is checked again. */
async function annulAllNumbers({ orm, clock, page = PAGE }: ExpiryDeps): Promise<void> {
  const now = clock();
  const today = montevideoDate(now);
  let after: string | undefined = LEAST_UUID;
  while (after !== undefined) {
    const caes = await listExpiredCaes(orm.em.fork(), { today, after, limit: page });
    for (const { id, dayAfter, numberStart, numberEnd, ...numbering } of caes) {
      await orm.em.fork().transactional(async (em) => {
        await lockNumbering(em, numbering);
        const details = { reason: 'cae.expired', reportDate: dayAfter, now } as const;
        await annulUnusedNumbers(em, id, { from: numberStart, to: numberEnd }, details);
      });
    }
    after = caes.length < page ? undefined : caes.at(-1)?.id;
  }
}

/** The owner of these look-ups in their queue. */
const DAILY_CHECK = 'daily look';

/** Checks once a day that each current certificate is still trusted and not revoked. */
async function checkAllCertificates(deps: ExpiryDeps): Promise<void> {
  const { orm, clock, certificates, page = LOOKED_UP_TOGETHER } = deps;
  if (!certificates) return;
  const now = clock();
  const before = new Date(now.getTime() - CHECK_MILLISECONDS);
  let after: string | undefined = LEAST_UUID;
  while (after !== undefined) {
    const limit = Math.min(page, LOOKED_UP_TOGETHER);
    const due = await listUncheckedCertificates(orm.em.fork(), { before, after, limit });
    const chains = due.map(({ certificate, intermediates }) =>
      certifiedChain(certificate, readPemCertificates(intermediates), {
        authorities: certificates.authorities,
        at: now,
      }),
    );
    const states = await certificates.lookUpRevocation(
      chains.map((chain) => chain ?? []),
      DAILY_CHECK,
    );
    for (const [index, certificate] of due.entries()) {
      const isTrusted = Boolean(chains[index]);
      await storeCheck(deps, certificate, { isTrusted, state: states[index] ?? 'unknown', now });
    }
    after = due.length < limit ? undefined : due.at(-1)?.id;
  }
}

/** Stores a check, with `enterprise.updated` if the state of the certificate has changed. */
async function storeCheck(
  { orm }: ExpiryDeps,
  { id, rut, untrustedAt, revokedAt }: Certificate,
  { isTrusted, state, now }: { isTrusted: boolean; state: RevocationState; now: Date },
): Promise<void> {
  const checks = {
    // Without an answer the next check is in some hours.
    checkedAt: state === 'unknown' ? new Date(now.getTime() - CHECK_MILLISECONDS + RETRY_MILLISECONDS) : now,
    untrustedAt: isTrusted ? null : (untrustedAt ?? now),
    // An older list may not contain a revocation yet: a revocation ends only with another certificate.
    revokedAt: state === 'revoked' ? (revokedAt ?? now) : (revokedAt ?? null),
  };
  await orm.em.fork().transactional(async (em) => {
    const enterprise = await lockEnterprise(em, rut);
    if (enterprise) await recordEnterpriseChanges(em, enterprise, now, () => storeChecks(em, id, checks));
  });
}

async function recordAllExpiries({ orm, clock, page = PAGE }: ExpiryDeps): Promise<ExpiriesResult> {
  const now = clock();
  let enterprises = 0;
  let after = '';
  for (;;) {
    const ruts = await listRutsWithUnreportedExpiries(orm.em.fork(), { now, after, limit: page });
    for (const rut of ruts) {
      if (await orm.em.fork().transactional((em) => recordExpiryEvent(em, rut, now))) enterprises += 1;
    }
    const last = ruts.at(-1);
    if (last === undefined || ruts.length < page) return { kind: 'told', enterprises };
    after = last;
  }
}

async function recordAllWarnings({ orm, clock, page = PAGE }: ExpiryDeps): Promise<void> {
  const now = clock();
  let after: string | undefined = '';
  while (after !== undefined) {
    const ruts = await listRutsWithDocuments(orm.em.fork(), { after, limit: page });
    for (const enterprise of await loadWarnedEnterprises(orm.em.fork(), ruts, now)) {
      await orm.em.fork().transactional((em) => recordDueWarnings(em, enterprise, now));
    }
    after = ruts.length < page ? undefined : ruts.at(-1);
  }
}
