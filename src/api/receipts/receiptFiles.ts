/** The files of a receipt, for readers of the CFE and holders of its link. */
import { setImmediate } from 'node:timers/promises';
import { Logo } from '../../db/entities/enterprises.ts';
import { type Receipt, readDocumentText, readPrintedParts, readSignedXml } from '../../db/receipts/cfes.ts';
import { CFE_TYPES } from '../../domain/receipts/cfeTypes.ts';
import type { PaperSize } from '../../domain/receipts/qr.ts';
import { receiptState } from '../../domain/receipts/receiptState.ts';
import { Refusal } from '../../errors.ts';
import { sha256Of } from '../../print/fileCache.ts';
import { printedReceipt } from '../../print/printedReceipt.ts';
import type { ApiDeps } from '../deps.ts';
import type { FileAnswer } from '../route.ts';
import type { PageTask } from './drawPage.ts';

const RETRY_AFTER_SECONDS = 5;

/** A receipt that may be handed over, with a signed CFE. */
export interface SentReceipt extends Receipt {
  readonly digest: string;
  readonly xmlBytes: number;
}

/** Returns the refusal for a receipt that has not been sent to the authority. */
export function notSentYet(): Refusal {
  const message =
    'The CFE has not been sent to the tax authority yet; its receipt may not be handed over before that.';
  return new Refusal('NOT_SENT_YET', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/**
 * Returns the receipt if its sobre was sent. Throws NOT_SENT_YET before that, and for a receipt that is never sent.
 */
export function requireSentReceipt(receipt: Receipt): SentReceipt {
  const state = receiptState(receipt);
  if (state === 'inProcess') throw notSentYet();
  const { digest, xmlBytes } = receipt;
  if (state === 'neverSent' || digest === null || xmlBytes === null) {
    throw new Refusal(
      'NOT_SENT_YET',
      'The CFE was rejected and never went to the tax authority: it has no receipt.',
    );
  }
  return { ...receipt, digest, xmlBytes };
}

/** Returns the file name of a receipt: issuer, type code, serie and number. */
export const receiptFileName = ({ rut, type, serie, numero }: Receipt, ending: 'pdf' | 'xml'): string =>
  `${rut}-${CFE_TYPES[type].code}-${serie}-${numero}.${ending}`;

/** Returns the bytes of the signed CFE, encoded in pieces to let other requests run. */
export async function encodeSignedXml(
  { orm }: Pick<ApiDeps, 'orm'>,
  { id }: SentReceipt,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (const piece of utf8Pieces(await readSignedXml(orm.em.fork(), id))) {
    pieces.push(piece);
    await setImmediate();
  }
  return Buffer.concat(pieces);
}

/** A piece takes at most a millisecond. */
const PIECE_CHARACTERS = 256 * 1024;

/**
 * Encodes a text in UTF-8, piece by piece: the 4 MB of the longest CFE would block for up to 20 ms.
 *
 * @internal exported for tests
 */
export function* utf8Pieces(text: string): Generator<Uint8Array> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + PIECE_CHARACTERS;
    // Keeps surrogate pairs together.
    if (/[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to += 1;
    yield Buffer.from(text.slice(from, to), 'utf8');
  }
}

/** Returns the signed CFE, byte for byte. */
export async function loadXmlFile(deps: Pick<ApiDeps, 'orm'>, receipt: SentReceipt): Promise<FileAnswer> {
  const bytes = await encodeSignedXml(deps, receipt);
  return { bytes, name: receiptFileName(receipt, 'xml'), sha256: await sha256Of(bytes) };
}

const findLogoOf = async (
  { orm }: Pick<ApiDeps, 'orm'>,
  sha256: string | null | undefined,
): Promise<Logo | null> => (sha256 ? orm.em.fork().findOne(Logo, { sha256 }) : null);

/** Returns the printed form, drawn in the account's queue. Throws UNAVAILABLE when the queue is full. */
export async function loadPdfFile(
  deps: Pick<ApiDeps, 'orm' | 'receiptPdfs' | 'publicUrl'>,
  receipt: SentReceipt,
  paper: PaperSize,
): Promise<FileAnswer> {
  const { bytes, sha256 } = await deps.receiptPdfs.pdf(receipt, paper, async () => {
    const { signedXml, document } = await readPrintedParts(deps.orm.em.fork(), receipt.id);
    const logo = await findLogoOf(deps, document.issuer.logoSha256);
    const { environment, status } = receipt;
    const signed = { signedXml, environment, status, document };
    return printedReceipt(signed, { logo: logo?.bytes ?? null, publicUrl: deps.publicUrl });
  });
  return { bytes, name: receiptFileName(receipt, 'pdf'), sha256 };
}

/** Returns the input of a receipt's page. */
export async function loadPageTask(
  deps: Pick<ApiDeps, 'orm'>,
  { id, environment, status, digest, receiptToken }: SentReceipt,
): Promise<PageTask> {
  const { json, logoSha256 } = await readDocumentText(deps.orm.em.fork(), id);
  const logo = await findLogoOf(deps, logoSha256);
  return {
    json,
    environment,
    status,
    digest,
    receiptToken,
    logo: logo && `data:${logo.mediaType};base64,${Buffer.from(logo.bytes).toString('base64')}`,
  };
}
