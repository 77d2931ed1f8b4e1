import type { EntityManager } from '@mikro-orm/postgresql';
import { readyFacts } from '../../db/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { certificateStatus } from '../../domain/certificate.ts';
import type { Environment } from '../../domain/cfeTypes.ts';
import {
  lackingFacts,
  NOT_AUTHORIZED_FAULT,
  notReadyFault,
  SUSPENDED_FAULT,
} from '../../domain/enterpriseStatus.ts';
import type { Fault } from '../../errors.ts';

/** A certificate as far as it is judged here. */
type Expiring = { readonly notAfter: Date };

/**
 * What keeps an enterprise from issuing at `now`: it is suspended, it is not READY (production only; the
 * missing facts are named), the authority withdrew its permission (production only), or its certificate cannot sign any
 * more.
 */
export async function issuerFaults(
  em: EntityManager,
  issuer: { enterprise: Enterprise; certificate: Expiring | null; environment: Environment; now: Date },
): Promise<Fault[]> {
  const { enterprise, certificate, environment, now } = issuer;
  if (enterprise.status === 'SUSPENDED') return [SUSPENDED_FAULT];
  if (enterprise.status === 'PENDING' && environment === 'production') {
    return [notReadyFault(lackingFacts(await readyFacts(em, enterprise, now)))];
  }
  const withdrawn = environment === 'production' && !enterprise.permissions.includes('PROD');
  return [...(withdrawn ? [NOT_AUTHORIZED_FAULT] : []), ...signingFaults(certificate, now)];
}

/** What keeps a certificate from signing at `now`; READY is not lost with it, so issuing must say so itself. */
function signingFaults(certificate: Expiring | null, now: Date): Fault[] {
  const status = certificateStatus(certificate, now);
  if (status === 'NONE') {
    return [fault('enterprise.certificate_missing', 'The enterprise has no certificate; upload one.')];
  }
  if (status === 'EXPIRED') {
    const message = 'The certificate of the enterprise has expired; upload a new one.';
    return [fault('enterprise.certificate_expired', message)];
  }
  return [];
}

const fault = (code: string, message: string): Fault => ({ path: '', code, message });
