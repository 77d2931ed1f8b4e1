/** What the local stack has from the simulator's portal at every start: the operator's own certificate, made anew, and who certifies companies. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { StackSecrets } from './secrets.ts';

/** Where the .p12 of the operator's certificate lies. */
export const serviceCertificateFile = (dataDir: string): string => join(dataDir, 'service-certificate.p12');

/** Where the certificates of the authorities lie that may certify companies. */
export const certificateAuthoritiesFile = (dataDir: string): string =>
  join(dataDir, 'certificate-authorities.pem');

/** The operator of the local stack, as in its declarations and its certificate; invented. */
export const LOCAL_PROVIDER = { CFE_PROVIDER_RUT: '219999820013', CFE_PROVIDER_PRODUCT: 'CFEAPI1' } as const;

/** The password of the .p12, derived from the pepper so that it need not be stored. */
export const serviceCertificatePassword = ({ pepper }: StackSecrets): string =>
  createHash('sha256').update(`service certificate\0${pepper}`).digest('hex');
