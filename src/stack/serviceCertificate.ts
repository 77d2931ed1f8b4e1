/** The operator's own certificate in the local stack, made anew by the simulator's portal at every start. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { StackSecrets } from './secrets.ts';

/** Where its .p12 lies. */
export const serviceCertificateFile = (dataDir: string): string => join(dataDir, 'service-certificate.p12');

/** The password of the .p12, derived from the pepper so that it need not be stored. */
export const serviceCertificatePassword = ({ pepper }: StackSecrets): string =>
  createHash('sha256').update(`service certificate\0${pepper}`).digest('hex');
