import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigurationError, type readConfig } from '../config.ts';
import type { CertificateAuthorities } from '../crypto/certificateAuthorities.ts';
import type { LookUpRevocation } from '../crypto/revocation.ts';
import { splitPem } from '../crypto/x509.ts';
import { createRevocationLookUp } from '../revocation/lookUpRevocation.ts';

/**
 * Returns the configured authorities that may certify enterprises. Throws ConfigurationError for an unusable
 * file.
 */
export function readCertificateAuthorities({
  CFE_CERTIFICATE_CA_FILE: path,
}: ReturnType<typeof readConfig<'CFE_CERTIFICATE_CA_FILE'>>): CertificateAuthorities {
  if (path === 'any') return 'any';
  const refuse = (what: string, cause?: unknown): never => {
    throw new ConfigurationError(`CFE_CERTIFICATE_CA_FILE names ${path}, ${what}`, { cause });
  };
  const text = readText(path, refuse);
  const authorities = splitPem(text).map((pem, index) => {
    try {
      return new X509Certificate(pem);
    } catch (cause) {
      return refuse(`whose certificate ${index + 1} cannot be read`, cause);
    }
  });
  if (authorities.length === 0) refuse('which holds no certificate in PEM');
  const stranger = authorities.findIndex(({ ca }) => !ca);
  if (stranger >= 0) refuse(`whose certificate ${stranger + 1} is not a certification authority's`);
  return authorities;
}

/** Returns the look-up of revoked certificates; only in development may it ask servers on this machine. */
export const openRevocationLookUp = ({
  CFE_WEBHOOK_LOCAL_CA_FILE: file,
}: ReturnType<typeof readConfig<'CFE_WEBHOOK_LOCAL_CA_FILE'>>): LookUpRevocation =>
  createRevocationLookUp({ localServers: file !== '' });

function readText(path: string, refuse: (what: string, cause: unknown) => never): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    return refuse('which cannot be read', cause);
  }
}
