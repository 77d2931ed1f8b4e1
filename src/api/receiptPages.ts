/**
 * The pages of receipts, for whoever has the link: outside /v1, without a login, in HTML. The token in the address is
 * the right to see that one receipt (docs/contract.md#the-receipt-page).
 */
import { createHash } from 'node:crypto';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { findCfeOfReceipt } from '../db/cfes.ts';
import type { Cfe } from '../db/entities/Cfe.ts';
import { receiptState } from '../domain/receiptState.ts';
import { Refusal, type RefusalCode } from '../errors.ts';
import { networkOf } from '../http/callerAddress.ts';
import { messagePage, receiptPage } from '../page/receiptPage.ts';
import { STYLE } from '../page/style.ts';
import { createAccountPlaces } from './accountPlaces.ts';
import { answerFile } from './answer.ts';
import type { ApiDeps } from './deps.ts';
import { errorAnswer } from './errorAnswer.ts';
import type { FailureLimit } from './failedAttempts.ts';
import { pageReceipt, pdfFile, sentCfe, xmlFile } from './receiptFiles.ts';
import type { RequestState } from './requestState.ts';
import type { FileAnswer } from './route.ts';
import { paperAsked } from './routes/getCfePdf.ts';

/** No script, nothing of another host: the style by its hash, pictures only as they stand in the page. */
const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** 128 bits in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{22}$/;

/** Look-ups of one network at a time, and how many more wait: guessing takes the database from nobody. */
const LOOK_UPS = { atOnce: 4, waiting: 100 } as const;

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
  RATE_LIMITED: ['Demasiados intentos', 'Espere unos minutos y vuelva a abrir el enlace.'],
  UNAVAILABLE: ['Servicio ocupado', 'Vuelva a intentarlo en unos segundos.'],
  INVALID_INPUT: ['Solicitud incorrecta', 'El tamaño de papel debe ser A4, 80mm o 58mm.'],
};
const OUR_FAULT: Words = ['Algo salió mal', 'El error es nuestro. Vuelva a intentarlo más tarde.'];

/** Adds `/r/{token}` and its files. */
export function serveReceiptPages(
  router: Router<RequestState>,
  { deps, failures }: { deps: ApiDeps; failures: FailureLimit },
): void {
  const places = createAccountPlaces(LOOK_UPS);

  /** The CFE of the token. Refuses where there is none, as failed authentication (NOT_FOUND, RATE_LIMITED). */
  async function cfeOf({ address }: RequestState, token = ''): Promise<Cfe> {
    const look = () => findCfeOfReceipt(deps.orm.em.fork(), token);
    const cfe = TOKEN.test(token) ? await places.hold(networkOf(address), look) : null;
    if (cfe) return cfe;
    throw await failures.refusalFor(address, new Refusal('NOT_FOUND', 'There is no such receipt.'));
  }

  const serve = (path: string, answer: (ctx: Context, cfe: Cfe) => Promise<void>) =>
    router.get(path, async (ctx) => {
      ctx.state.route = path.replace(':token', '{token}');
      ctx.set({ 'Content-Security-Policy': PAGE_POLICY, 'X-Robots-Tag': 'noindex, nofollow, noarchive' });
      try {
        await answer(ctx, await cfeOf(ctx.state, ctx.params['token']));
      } catch (err) {
        answerRefusal(ctx, err, deps);
      }
    });
  const serveFile = (
    path: string,
    mediaType: string,
    make: (ctx: Context, cfe: Cfe) => Promise<FileAnswer>,
  ) => serve(path, async (ctx, cfe) => answerFile(ctx, mediaType, await make(ctx, cfe)));

  serve('/r/:token', async (ctx, cfe) => {
    const state = receiptState(cfe);
    answerPage(
      ctx,
      200,
      state === 'sent'
        ? await pageOf(cfe, deps)
        : messagePage(...(state === 'inProcess' ? IN_PROCESS : NEVER_SENT)),
    );
  });
  serveFile('/r/:token/xml', 'application/xml', async (_, cfe) => xmlFile(sentCfe(cfe)));
  serveFile('/r/:token/pdf', 'application/pdf', async (ctx, cfe) => {
    const paper = paperAsked(ctx.query['paper']);
    return pdfFile(deps, sentCfe(cfe), paper);
  });
}

const pageOf = async (cfe: Cfe, deps: ApiDeps): Promise<string> =>
  receiptPage(await pageReceipt(deps, sentCfe(cfe)));

function answerPage(ctx: Context, status: number, page: string): void {
  ctx.status = status;
  ctx.type = 'text/html';
  ctx.body = page;
}

/** What was thrown, as a page. */
function answerRefusal(ctx: Context, err: unknown, { logger }: ApiDeps): void {
  const { requestId, route } = ctx['state'] as RequestState;
  const { status, headers, body } = errorAnswer(err, requestId);
  const { code } = body.error;
  if (status >= 500) logger.error({ err, requestId, route, code }, 'request failed');
  const notYet = 'Retry-After' in headers ? IN_PROCESS : NEVER_SENT;
  ctx.set(headers);
  answerPage(ctx, status, messagePage(...(code === 'NOT_SENT_YET' ? notYet : (WORDS[code] ?? OUR_FAULT))));
}
