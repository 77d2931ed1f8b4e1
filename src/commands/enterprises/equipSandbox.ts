import { findCurrentCertificate } from '../../db/enterprises/certificates.ts';
import { hasInventedCae, listUnexpiredCaes } from '../../db/numbers/numbers.ts';
import { CFE_TYPES, type CfeType } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { inventSandboxCae } from '../numbers/sandboxCae.ts';
import { uploadCae } from '../numbers/uploadCae.ts';
import { type UploadCertificateDeps, uploadCertificate } from './uploadCertificate.ts';

/**
 * Source of an enterprise's certificate and CAEs for the authority's test environment
 * (docs/contract.md#sandbox).
 */
export interface AuthorityTestKit {
  /** Returns a test certificate for the company (a .p12 and its password). Rejects when the source is unavailable. */
  certificate: (rut: string) => Promise<{ file: Uint8Array; password: string }>;
  /** Returns a CAE file for one type and its first usable number; null without one. Rejects when the source is unavailable. */
  cae: (rut: string, typeCode: number) => Promise<{ file: Uint8Array; startNumber: number } | null>;
}

export interface EquipSandboxDeps extends UploadCertificateDeps {
  /** Null when no sandbox is configured. */
  readonly testKit: AuthorityTestKit | null;
}

const isCfeType = (value: unknown): value is CfeType =>
  typeof value === 'string' && Object.hasOwn(CFE_TYPES, value);

/** Returns whether issuing this body in the sandbox first obtains a missing certificate or CAE (equipSandbox). */
export const obtainsTestKit = ({ testKit }: Pick<EquipSandboxDeps, 'testKit'>, body: unknown): boolean =>
  testKit !== null && isCfeType((body as { cfe_type?: unknown } | null)?.cfe_type);

/**
 * Obtains a missing test certificate, and a missing CAE for the type in the body: the kit's signed CAE, or else an invented
 * one. Leaves all other faults to the rules of issuing. Throws UNAVAILABLE when the kit is unavailable.
 */
export async function equipSandbox(
  deps: EquipSandboxDeps,
  input: { rut: string; body: unknown },
): Promise<void> {
  const { rut, body } = input;
  const type = (body as { cfe_type?: unknown } | null)?.cfe_type;
  const { testKit } = deps;
  if (!testKit || !isCfeType(type)) return;

  const em = deps.orm.em.fork();
  const now = deps.clock();
  const certificate = await findCurrentCertificate(em, rut, 'sandbox');
  if (!certificate || certificate.notAfter <= now) {
    const kit = await fetchFromKit(() => testKit.certificate(rut));
    await uploadCertificate(deps, { rut, ...kit, environment: 'sandbox' });
  }
  const today = montevideoDate(now);
  const caes = await listUnexpiredCaes(em, { rut, environment: 'sandbox', type, today });
  // Only the operator may replace a used-up range, because its numbers must not be used again.
  if (caes.length > 0) return;
  // An invented CAE is followed by another: the kit's file may contain its numbers.
  const wasInvented = await hasInventedCae(em, { rut, environment: 'sandbox', type });
  const kit = wasInvented ? null : await fetchFromKit(() => testKit.cae(rut, CFE_TYPES[type].code));
  if (kit) await uploadCae(deps, { rut, ...kit, environment: 'sandbox' });
  else await inventSandboxCae(deps, { rut, type });
}

async function fetchFromKit<T>(fetch: () => Promise<T>): Promise<T> {
  try {
    return await fetch();
  } catch (cause) {
    throw new Refusal('UNAVAILABLE', 'Sandbox credentials are unavailable right now; try again.', {
      cause,
      retryAfterSeconds: 5,
    });
  }
}
