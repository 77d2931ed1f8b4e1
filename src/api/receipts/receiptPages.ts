/**
 * Receipt pages for holders of the link: HTML outside /v1, without login. The token in the URL grants access to one receipt
 * (docs/contract.md#receipt-page).
 */
import { createHash } from 'node:crypto';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { findReceiptByToken, type Receipt } from '../../db/receipts/cfes.ts';
import { receiptState } from '../../domain/receipts/receiptState.ts';
import { Refusal, type RefusalCode } from '../../errors.ts';
import { networkOf } from '../../http/callerAddress.ts';
import { createConcurrencySlots } from '../../http/concurrencySlots.ts';
import { messagePage } from '../../page/receiptPage.ts';
import { STYLE } from '../../page/style.ts';
import { type CachedFile, createFileCache } from '../../print/fileCache.ts';
import { answerFile } from '../answer.ts';
import type { ApiDeps } from '../deps.ts';
import { errorAnswer } from '../errorAnswer.ts';
import type { FailureLimit } from '../failedAttempts.ts';
import { queryValue } from '../query.ts';
import type { RequestState } from '../requestState.ts';
import type { FileAnswer } from '../route.ts';
import { parsePaper } from '../routes/receipts/cfeFiles.ts';
import { drawPage } from './drawPage.ts';
import {
  encodeSignedXml,
  loadPageTask,
  loadPdfFile,
  receiptFileName,
  requireSentReceipt,
  type SentReceipt,
} from './receiptFiles.ts';
import { serveVerificationPage } from './verificationPage.ts';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
/** Returns the Content-Security-Policy of pages: no scripts, the style by its hash, pictures only if embedded. */
const pagePolicy = (formAction: "'none'" | "'self'"): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    'img-src data:',
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ');

/** 128 bits in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{22}$/;

/** Concurrent lookups per network, and how many may wait: guessing must not exhaust the database. */
const LOOK_UPS = { atOnce: 4, waiting: 100 } as const;
/**
 * Concurrent prints per network and per receipt, and concurrent pages and XML per account; cached files need no slot.
 */
const ONE_AT_A_TIME = { atOnce: 1, waiting: 100 } as const;
/** Concurrent pages and XML per network. They do not wait for prints, which may take seconds. */
const PAGES_OF_NETWORK = 2;
/**
 * Bytes of pages and XML cached in memory: some 3,000 ordinary receipts; one account gets room for two of the longest.
 */
const MOST_BYTES = 32 * 1024 * 1024;

type Words = readonly [title: string, words: string];

const IN_PROCESS: Words = [
  'Comprobante en proceso',
  'La empresa emisora lo está enviando a la DGI. Vuelva a abrir esta página en unos minutos.',
];
const NEVER_SENT: Words = [
  'Comprobante sin validez',
  'Este comprobante no llegó a enviarse a la DGI y no tiene validez.',
];
const WORDS: Partial<Record<RefusalCode, Words>> = {
  NOT_FOUND: [
    'Comprobante no encontrado',
    'El enlace no corresponde a ningún comprobante. Compruebe que esté completo.',
  ],
  RATE_LIMITED: ['Demasiados intentos', 'Espere unos minutos y vuelva a intentarlo.'],
  UNAVAILABLE: ['Servicio ocupado', 'Vuelva a intentarlo en unos segundos.'],
  INVALID_INPUT: ['Solicitud incorrecta', 'El tamaño de papel debe ser A4, 80mm o 58mm.'],
};
const OUR_ERROR: Words = ['Algo salió mal', 'El error es nuestro. Vuelva a intentarlo más tarde.'];

type Guard = (
  ctx: Context,
  route: string,
  work: () => Promise<void>,
  formAction?: "'none'" | "'self'",
) => Promise<void>;

/** Runs `work` under the policy of pages, and answers errors as pages. */
async function answerGuarded(
  deps: ApiDeps,
  ...[ctx, route, work, formAction = "'self'"]: Parameters<Guard>
): Promise<void> {
  stateOf(ctx).route = route;
  ctx.set({
    'Content-Security-Policy': pagePolicy(formAction),
    'X-Robots-Tag': 'noindex, nofollow, noarchive',
  });
  try {
    await work();
  } catch (err) {
    answerRefusal(ctx, err, deps);
  }
}

/** Serves `/r/{token}` and its files, and the verification page. */
export function serveReceiptPages(
  router: Router<RequestState>,
  { deps, failures }: { deps: ApiDeps; failures: FailureLimit },
): void {
  const lookUpSlots = createConcurrencySlots(LOOK_UPS);

  /**
   * Returns the receipt of the token. Counts an unknown token as a failed authentication, and throws NOT_FOUND or
   * RATE_LIMITED.
   */
  async function requireReceipt({ address }: RequestState, token = ''): Promise<Receipt> {
    const look = () => findReceiptByToken(deps.orm.em.fork(), token);
    const receipt = TOKEN.test(token) ? await lookUpSlots.hold(networkOf(address), look) : null;
    if (receipt) return receipt;
    throw await failures.refusalFor(address, new Refusal('NOT_FOUND', 'There is no such receipt.'));
  }

  const { print, cachedFile } = createFileQueues();
  async function loadPage(state: RequestState, receipt: SentReceipt, below: string): Promise<Uint8Array> {
    // A page changes only when the CFE is rejected.
    const fileKey = receipt.status === 'REJECTED' ? `page, rejected ${below}` : `page ${below}`;
    const make = async () => {
      const { receiptToken, ...task } = await loadPageTask(deps, receipt);
      return drawPage({ ...task, receiptToken: `${below}${receiptToken}` }, receipt.accountId);
    };
    return (await cachedFile(state, receipt, fileKey, make)).bytes;
  }

  /** Shows a receipt; `below`: the start of the addresses of its files, relative to the page. */
  async function answerReceipt(ctx: Context, receipt: Receipt, below: string): Promise<void> {
    const state = receiptState(receipt);
    const page =
      state === 'sent'
        ? await loadPage(stateOf(ctx), requireSentReceipt(receipt), below)
        : messagePage(...(state === 'inProcess' ? IN_PROCESS : NEVER_SENT));
    answerPage(ctx, 200, page);
  }

  const guard: Guard = (ctx, route, work, formAction) => answerGuarded(deps, ctx, route, work, formAction);
  const serve = (path: string, answer: (ctx: Context, receipt: Receipt) => Promise<void>) =>
    router.get(path, (ctx) => {
      const work = async () => answer(ctx, await requireReceipt(ctx.state, ctx.params['token']));
      return guard(ctx, path.replace(':token', '{token}'), work, "'none'");
    });
  const serveFile = (
    path: string,
    mediaType: string,
    make: (ctx: Context, receipt: Receipt) => Promise<FileAnswer>,
  ) => serve(path, async (ctx, receipt) => answerFile(ctx, mediaType, await make(ctx, receipt)));

  serve('/r/:token', (ctx, receipt) => answerReceipt(ctx, receipt, ''));
  serveFile('/r/:token/xml', 'application/xml', async (ctx, receipt) => {
    const sent = requireSentReceipt(receipt);
    const file = await cachedFile(stateOf(ctx), sent, 'xml', () => encodeSignedXml(deps, sent));
    return { ...file, name: receiptFileName(sent, 'xml') };
  });
  serveFile('/r/:token/pdf', 'application/pdf', async (ctx, receipt) => {
    const paper = parsePaper(queryValue(ctx.querystring, 'paper'));
    const sent = requireSentReceipt(receipt);
    const file = () => loadPdfFile(deps, sent, paper);
    return deps.receiptPdfs.kept(sent, paper) ? file() : print(stateOf(ctx), sent, file);
  });
  serveVerificationPage(router, { deps, pages: { answer: answerPage, answerReceipt, guard } });
}

/** Creates queues for files, per network and per account or receipt, and a cache of the last pages and XML. */
function createFileQueues() {
  const prints = createConcurrencySlots(ONE_AT_A_TIME);
  const pages = createConcurrencySlots({ ...ONE_AT_A_TIME, atOnce: PAGES_OF_NETWORK });
  const owners = createConcurrencySlots(ONE_AT_A_TIME);
  const files = createFileCache(MOST_BYTES);

  /** Runs `make` when no other print for the network or of the receipt is running. */
  const print = <T>({ address }: RequestState, { id }: SentReceipt, make: () => Promise<T>): Promise<T> =>
    prints.hold(networkOf(address), () => owners.hold(id, make));

  /**
   * Returns a cached file, or creates it in the account's queue. `fileKey` distinguishes the files of a receipt.
   */
  async function cachedFile(
    { address }: RequestState,
    { id, accountId, digest }: SentReceipt,
    fileKey: string,
    make: () => Promise<Uint8Array>,
  ): Promise<CachedFile> {
    const key = { key: [id, digest, fileKey].join(' '), accountId };
    return (
      files.kept(key) ??
      pages.hold(networkOf(address), () => owners.hold(accountId, () => files.file(key, make)))
    );
  }
  return { print, cachedFile };
}

const stateOf = (ctx: Context): RequestState => ctx['state'];

function answerPage(ctx: Context, status: number, page: string | Uint8Array): void {
  ctx.status = status;
  ctx.type = 'text/html';
  ctx.body = typeof page === 'string' ? page : Buffer.from(page.buffer, page.byteOffset, page.byteLength);
}

/** Shows an error as a page. */
function answerRefusal(ctx: Context, err: unknown, { logger, publicUrl }: ApiDeps): void {
  const { requestId, route } = stateOf(ctx);
  const { status, headers, body } = errorAnswer(err, { requestId, language: 'es', publicUrl });
  const { code } = body.error;
  if (status >= 500) logger.error({ err, requestId, route, code }, 'request failed');
  const notYet = 'Retry-After' in headers ? IN_PROCESS : NEVER_SENT;
  ctx.set(headers);
  answerPage(ctx, status, messagePage(...(code === 'NOT_SENT_YET' ? notYet : (WORDS[code] ?? OUR_ERROR))));
}
