import { findCurrentSigner, requireSigner } from '../../db/enterprises/certificates.ts';
import { DirectoryEntry } from '../../db/entities/authority.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import {
  queueExchange,
  requireExchange,
  settleExchange,
  storeDirectoryEntries,
} from '../../db/mail/exchange.ts';
import { requireCfe } from '../../db/receipts/cfes.ts';
import { writeExchangeSobre } from '../../dgi/xml/exchangeSobre.ts';
import type { ExchangeResult } from '../../domain/authority/activityResults.ts';
import { type DirectoryRecord, type ExchangeState, isIssuerOn } from '../../domain/mail/directory.ts';
import { montevideoDate, montevideoTimestamp } from '../../domain/values/montevideo.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';
import { askDirectory, BEFORE_FIRST_ISSUER, type DirectoryDeps } from './askDirectory.ts';

export interface ExchangeDeps extends DirectoryDeps {
  outbox: { scheduleDispatch(): void };
  /** The domain of Message-IDs. */
  messageDomain: string;
}

/** How long the answer "not an electronic issuer" is trusted; the daily load also brings new issuers. */
const NOT_ELECTRONIC_MILLISECONDS = 3_600_000;

const RESULTS: Readonly<Record<Exclude<ExchangeState, 'PENDING'>, ExchangeResult>> = {
  ON_ITS_WAY: { kind: 'onItsWay' },
  NOT_ELECTRONIC: { kind: 'notElectronic' },
  NO_ADDRESS: { kind: 'noAddress' },
};

/**
 * Sends a decided CFE to a receiver that is an electronic issuer: stores the sobre, with the next
 * Idemisor, and its e-mail in one transaction. A repeat finds the stored rows.
 */
export function createPrepareExchange(deps: ExchangeDeps): Activity<'prepareExchange'> {
  return (cfeUuid) => withHeartbeat(() => prepare(deps, cfeUuid));
}

async function prepare(deps: ExchangeDeps, cfeUuid: string): Promise<ExchangeResult> {
  const em = deps.orm.em.fork();
  const { state, receiverRut } = await requireExchange(em, cfeUuid);
  if (state !== 'PENDING') return RESULTS[state];
  const cfe = await requireCfe(em, cfeUuid);
  const { since, until, mail } = await findReceiver(deps, cfe, receiverRut);
  const now = deps.clock();
  const isIssuer = isIssuerOn({ since, until }, montevideoDate(now));
  if (!isIssuer || mail === null) {
    const settled = isIssuer ? 'NO_ADDRESS' : 'NOT_ELECTRONIC';
    await settleExchange(deps.orm.em.fork(), cfeUuid, settled, now);
    return RESULTS[settled];
  }
  await send(deps, cfe, { receiverRut, destination: mail });
  deps.outbox.scheduleDispatch();
  return RESULTS.ON_ITS_WAY;
}

/** Returns the receiver's entry of the directory; asks the authority before the first sobre to a receiver. */
async function findReceiver(
  deps: ExchangeDeps,
  cfe: Cfe,
  rut: string,
): Promise<Pick<DirectoryRecord, 'mail' | 'since' | 'until'>> {
  const em = deps.orm.em.fork();
  const now = deps.clock();
  const known = await em.findOne(DirectoryEntry, { rut });
  if (known?.askedAt) {
    const isFresh = now.getTime() - known.askedAt.getTime() < NOT_ELECTRONIC_MILLISECONDS;
    if (isFresh || isIssuerOn(known, montevideoDate(now))) return known;
  }
  const certificate =
    (await findCurrentSigner(em, cfe.rut, cfe.environment)) ?? (await requireSigner(em, cfe.certificateId));
  const entries = [...(await askDirectory(deps, certificate, { since: BEFORE_FIRST_ISSUER, rut }))];
  const entry = entries.find((issuer) => issuer.rut === rut) ?? {
    rut,
    name: '',
    mail: null,
    since: null,
    until: null,
  };
  await storeDirectoryEntries(em, [entry], { now, askedAt: now });
  return entry;
}

async function send(
  { orm, clock, messageDomain }: ExchangeDeps,
  { id, certificateId }: Cfe,
  { receiverRut, destination }: { receiverRut: string; destination: string },
): Promise<void> {
  const certificate = await requireSigner(orm.em.fork(), certificateId);
  const now = clock();
  const write = ({ rut, signedXml, document }: Cfe, idemisor: bigint): string => {
    if (signedXml === null) throw new Error(`CFE ${id} has a verdict and no signature`);
    return writeExchangeSobre({
      receiverRut,
      issuerRut: rut,
      idemisor,
      createdAt: montevideoTimestamp(now),
      certificateDer: certificate.certificate,
      signedCfe: signedXml,
      adenda: document.adenda,
    });
  };
  const messageId = ({ rut }: Cfe, idemisor: bigint) => `sob-${rut}-${idemisor}@${messageDomain}`;
  const sending = { destination, write, messageId };
  await orm.em.fork().transactional((em) => queueExchange(em, id, sending, now));
}
