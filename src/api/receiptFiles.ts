/** A receipt's files, for who may read the CFE and for who has its link. */
import { setImmediate } from 'node:timers/promises';
import { type Receipt, readDocumentText, readPrintedParts, readSignedXml } from '../db/cfes.ts';
import { Logo } from '../db/entities/enterprises.ts';
import { CFE_TYPES } from '../domain/cfeTypes.ts';
import type { Paper } from '../domain/qr.ts';
import { receiptState } from '../domain/receiptState.ts';
import { Refusal } from '../errors.ts';
import { sha256Of } from '../print/fileCache.ts';
import { printedReceipt } from '../print/printedReceipt.ts';
import type { ApiDeps } from './deps.ts';
import type { PageTask } from './drawPage.ts';
import type { FileAnswer } from './route.ts';

const RETRY_AFTER_SECONDS = 5;

/** A receipt that may be handed over: its CFE is signed. */
export interface SentReceipt extends Receipt {
  readonly digest: string;
  readonly xmlBytes: number;
}

/** The refusal of a receipt that is on its way to the authority. */
export function notSentYet(): Refusal {
  const message =
    'The CFE has not been sent to the tax authority yet; its receipt may not be handed over before that.';
  return new Refusal('NOT_SENT_YET', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** The receipt, once its sobre went out. Refuses before that, and where it never will (NOT_SENT_YET). */
export function sentReceipt(receipt: Receipt): SentReceipt {
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

/** What a file of a receipt is saved as: issuer, type code, serie and number. */
export const nameOf = ({ rut, type, serie, numero }: Receipt, ending: 'pdf' | 'xml'): string =>
  `${rut}-${CFE_TYPES[type].code}-${serie}-${numero}.${ending}`;

/** The bytes of the signed CFE, made in turn with whatever else this process does. */
export async function xmlOf({ orm }: Pick<ApiDeps, 'orm'>, { id }: SentReceipt): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (const piece of utf8Pieces(await readSignedXml(orm.em.fork(), id))) {
    pieces.push(piece);
    await setImmediate();
  }
  return Buffer.concat(pieces);
}

/** A thousandth of a second of work, or less. */
const PIECE_CHARACTERS = 256 * 1024;

/**
 * A text in UTF-8, piece by piece: the 4 MB of the longest CFE take up to 20 ms at once.
 *
 * @internal exported for tests
 */
export function* utf8Pieces(text: string): Generator<Uint8Array> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + PIECE_CHARACTERS;
    // The two halves of one sign stay together.
    if (/[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to += 1;
    yield Buffer.from(text.slice(from, to), 'utf8');
  }
}

/** The signed CFE, byte for byte. */
export async function xmlFile(deps: Pick<ApiDeps, 'orm'>, receipt: SentReceipt): Promise<FileAnswer> {
  const bytes = await xmlOf(deps, receipt);
  return { bytes, name: nameOf(receipt, 'xml'), sha256: await sha256Of(bytes) };
}

const findLogoOf = async (
  { orm }: Pick<ApiDeps, 'orm'>,
  sha256: string | null | undefined,
): Promise<Logo | null> => (sha256 ? orm.em.fork().findOne(Logo, { sha256 }) : null);

/** The printed form. It waits in turn with what else is drawn for its account. Refuses while too much is (UNAVAILABLE). */
export async function pdfFile(
  deps: Pick<ApiDeps, 'orm' | 'receiptPdfs' | 'publicUrl'>,
  receipt: SentReceipt,
  paper: Paper,
): Promise<FileAnswer> {
  const { bytes, sha256 } = await deps.receiptPdfs.pdf(receipt, paper, async () => {
    const { signedXml, document } = await readPrintedParts(deps.orm.em.fork(), receipt.id);
    const logo = await findLogoOf(deps, document.issuer.logoSha256);
    const { environment, status } = receipt;
    const signed = { signedXml, environment, status, document };
    return printedReceipt(signed, { logo: logo?.bytes ?? null, publicUrl: deps.publicUrl });
  });
  return { bytes, name: nameOf(receipt, 'pdf'), sha256 };
}

/** What the page of a receipt is made from. */
export async function pageTask(
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
