import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENVIRONMENT_NAMES, ENVIRONMENTS, type EnvironmentName } from '../environments.ts';
import { type Credential, issueCertificate, wasIssuedBy } from './issuing.ts';

/** A certificate and its key, ready to sign with. */
export interface Signer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

/** The authority's keys: a small certification authority, and one signing certificate per environment. */
export interface Authority {
  readonly root: Credential;
  readonly signers: Readonly<Record<EnvironmentName, Signer>>;
  /** Whether this authority issued the certificate, whatever its dates. */
  readonly trusts: (certificate: X509Certificate) => boolean;
}

const YEARS_20_MS = 20 * 365.25 * 86_400_000;
const YEAR_MS = 365.25 * 86_400_000;

/** The authority's keys in `folder`, made at the first start (files of mode 600). */
export async function openAuthority(folder: string, now: Date): Promise<Authority> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const dates = {
    notBefore: new Date(now.getTime() - YEAR_MS),
    notAfter: new Date(now.getTime() + YEARS_20_MS),
  };
  const root = await keep(folder, 'root', () =>
    issueCertificate({ subject: { commonName: 'Simulador de la autoridad - CA de prueba' }, ...dates }),
  );
  const signers: Partial<Record<EnvironmentName, Signer>> = {};
  for (const environment of ENVIRONMENT_NAMES) {
    const { rut, name } = ENVIRONMENTS[environment];
    const credential = await keep(folder, environment, () =>
      issueCertificate({ subject: { commonName: name, rut }, ...dates, issuer: root }),
    );
    signers[environment] = {
      certificate: new X509Certificate(credential.certificate),
      key: createPrivateKey(credential.privateKey),
    };
  }
  const known = new Map<string, boolean>();
  return {
    root,
    signers: signers as Readonly<Record<EnvironmentName, Signer>>, // the loop above fills every environment
    trusts: (certificate) => {
      const key = certificate.fingerprint256;
      const answer = known.get(key) ?? wasIssuedBy(certificate, root);
      if (known.size > 10_000) known.clear();
      known.set(key, answer);
      return answer;
    },
  };
}

async function keep(folder: string, name: string, make: () => Promise<Credential>): Promise<Credential> {
  const file = join(folder, `${name}.json`);
  if (!existsSync(file)) {
    writeFileSync(`${file}.new`, JSON.stringify(await make()), { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Credential;
}
