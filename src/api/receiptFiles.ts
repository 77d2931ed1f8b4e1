/** A receipt's files, for who may read the CFE and for who has its link. */
import type { Cfe } from '../db/entities/Cfe.ts';
import type { Logo } from '../db/entities/Logo.ts';
import { findLogo } from '../db/logos.ts';
import { CFE_TYPES } from '../domain/cfeTypes.ts';
import type { Paper } from '../domain/paper.ts';
import { qrUrl, securityCode } from '../domain/qr.ts';
import { receiptState } from '../domain/receiptState.ts';
import { Refusal } from '../errors.ts';
import type { PageReceipt } from '../page/receiptPage.ts';
import { printedReceipt } from '../print/printedReceipt.ts';
import type { ApiDeps } from './deps.ts';
import type { FileAnswer } from './route.ts';

const RETRY_AFTER_SECONDS = 5;

/** A CFE whose receipt may be handed over, with the XML and the hash of its signature. */
export interface SentCfe {
  readonly cfe: Cfe;
  readonly signedXml: string;
  readonly digest: string;
}

/** The refusal of a receipt that is on its way to the authority. */
export function notSentYet(): Refusal {
  const message = 'The CFE has not gone to the tax authority yet; its receipt may not be handed over before.';
  return new Refusal('NOT_SENT_YET', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** The CFE, read with its XML, once its sobre went out. Refuses before that, and where it never will (NOT_SENT_YET). */
export function sentCfe(cfe: Cfe): SentCfe {
  const state = receiptState(cfe);
  if (state === 'inProcess') throw notSentYet();
  const { signedXml, digest } = cfe;
  if (state === 'neverSent' || signedXml === null || digest === null) {
    throw new Refusal(
      'NOT_SENT_YET',
      'The CFE was rejected and never went to the tax authority: it has no receipt.',
    );
  }
  return { cfe, signedXml, digest };
}

/** What a file of a receipt is saved as: issuer, type code, serie and number. */
const nameOf = ({ rut, type, serie, numero }: Cfe, ending: 'pdf' | 'xml'): string =>
  `${rut}-${CFE_TYPES[type].code}-${serie}-${numero}.${ending}`;

/** The signed CFE, byte for byte. */
export function xmlFile({ cfe, signedXml }: Pick<SentCfe, 'cfe' | 'signedXml'>): FileAnswer {
  return { bytes: Buffer.from(signedXml, 'utf8'), name: nameOf(cfe, 'xml') };
}

const logoOf = async ({ orm }: Pick<ApiDeps, 'orm'>, { document }: Cfe): Promise<Logo | null> => {
  const { logoSha256 } = document.issuer;
  return logoSha256 === undefined ? null : findLogo(orm.em.fork(), logoSha256);
};

/** The printed form. It waits in turn with what else is drawn for its issuer. Refuses while too much is (UNAVAILABLE). */
export async function pdfFile(
  { orm, receiptPdfs, publicUrl }: Pick<ApiDeps, 'orm' | 'receiptPdfs' | 'publicUrl'>,
  { cfe, signedXml }: SentCfe,
  paper: Paper,
): Promise<FileAnswer> {
  const logo = await logoOf({ orm }, cfe);
  const { environment, status, document } = cfe;
  const signed = { signedXml, environment, status, document };
  const receipt = printedReceipt(signed, { logo: logo?.bytes ?? null, publicUrl });
  return { bytes: await receiptPdfs.pdf(receipt, paper), name: nameOf(cfe, 'pdf') };
}

/** What the page of the receipt is made from. */
export async function pageReceipt(
  { orm }: Pick<ApiDeps, 'orm'>,
  { cfe, digest }: SentCfe,
): Promise<PageReceipt> {
  const logo = await logoOf({ orm }, cfe);
  const { document, environment, status, type, rut, serie, numero } = cfe;
  const { signedAt, totals } = document;
  return {
    document,
    environment,
    status,
    securityCode: securityCode(digest),
    qrUrl: qrUrl({
      environment,
      rut,
      serie,
      numero,
      typeCode: CFE_TYPES[type].code,
      pay: totals.pay,
      signedAt,
      digest,
    }),
    logo: logo && `data:${logo.mediaType};base64,${Buffer.from(logo.bytes).toString('base64')}`,
    // Beside the page, wherever that is.
    pdf: `${cfe.receiptToken}/pdf`,
    xml: `${cfe.receiptToken}/xml`,
  };
}
