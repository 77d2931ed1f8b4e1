import type { SkipNumbersDeps } from '../commands/numbers/skipNumbers.ts';
import { readConfig, type Variables } from '../config.ts';
import { createOpener } from '../crypto/sealed.ts';
import { findCurrentSigner } from '../db/enterprises/certificates.ts';
import type { Orm } from '../db/orm.ts';
import { CFE_TYPES } from '../domain/receipts/cfeTypes.ts';
import { Refusal } from '../errors.ts';
import { DGI_VARIABLES, openDgiClient } from './dgiClient.ts';
import { createKeyOpener } from './privateKeys.ts';

/**
 * Queries the authority about a fiscal number, with the enterprise's own certificate. Throws
 * ConfigurationError when the authority or the key-encryption keys are not configured.
 */
export function createAskAuthority(orm: Orm, source: Variables): SkipNumbersDeps['askAuthority'] {
  const config = readConfig([...DGI_VARIABLES, 'CFE_KEY_ENCRYPTION_KEYS'], source);
  const client = openDgiClient(config, orm);
  const privateKeyOf = createKeyOpener(createOpener(config.CFE_KEY_ENCRYPTION_KEYS));
  return async ({ rut, environment, type, serie, numero }) => {
    const certificate = await findCurrentSigner(orm.em.fork(), rut, environment);
    if (!certificate) {
      throw new Refusal(
        'INVALID_INPUT',
        `${rut} has no certificate, which is required to query the authority.`,
      );
    }
    const credentials = {
      privateKey: privateKeyOf(certificate),
      certificateDer: certificate.certificate,
    };
    const { code: typeCode } = CFE_TYPES[type];
    const answer = await client.findCfe(credentials, environment, { typeCode, serie, numero });
    if (answer.kind === 'absent') return undefined;
    if (answer.kind === 'found') return { verdict: answer.state };
    const reason = answer.kind === 'stuck' ? answer.explanation : answer.description;
    throw new Refusal('UNAVAILABLE', `The authority gave no answer about ${serie} ${numero}: ${reason}`);
  };
}
