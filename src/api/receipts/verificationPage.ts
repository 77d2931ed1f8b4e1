/**
 * The public page that verifies a printed e-Ticket, outside /v1 and without login: RUC, type, serie, number and security
 * code on the paper lead to its receipt (docs/contract.md#verification-page).
 */
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { countVerification, forgiveVerification } from '../../db/people/counts.ts';
import { findPrintedCfe, type PrintedNumber, type Receipt } from '../../db/receipts/cfes.ts';
import { isExceeded, type RateLimitUsage, secondsUntilReset } from '../../domain/people/rateLimits.ts';
import { CFE_TYPES, cfeTypeOfCode } from '../../domain/receipts/cfeTypes.ts';
import { SECURITY_CODE_LENGTH, VERIFICATION_PATH } from '../../domain/receipts/qr.ts';
import { Refusal } from '../../errors.ts';
import { networkOf } from '../../http/callerAddress.ts';
import { createConcurrencySlots } from '../../http/concurrencySlots.ts';
import { verificationPage } from '../../page/verificationPage.ts';
import type { ApiDeps } from '../deps.ts';
import { queryValue } from '../query.ts';
import type { RequestState } from '../requestState.ts';

/** Concurrent look-ups per network, and how many may wait. */
const LOOK_UPS = { atOnce: 4, waiting: 100 } as const;
/** Most networks remembered; the database counts for forgotten networks again. */
const MOST_REMEMBERED = 10_000;

const FIELDS = ['ruc', 'tipo', 'serie', 'numero', 'codigo'] as const;

/** Ways to answer a request with a page. */
interface Pages {
  answer(ctx: Context, status: number, page: string): void;
  /** `below`: the start of the receipt's own address, relative to the page. */
  answerReceipt(ctx: Context, receipt: Receipt, below: string): Promise<void>;
  /** Answers errors as pages. */
  guard(ctx: Context, route: string, work: () => Promise<void>): Promise<void>;
}

export function serveVerificationPage(
  router: Router<RequestState>,
  { deps, pages }: { deps: ApiDeps; pages: Pages },
): void {
  const slots = createConcurrencySlots(LOOK_UPS);
  const exceeded = new LRUCache<string, RateLimitUsage>({ max: MOST_REMEMBERED });

  /**
   * Returns the receipt with these data, or null. Counts the look-up before its result is known; throws RATE_LIMITED
   * after too many misses of the network, even for correct data: six characters can be guessed.
   */
  async function lookUp(network: string, printed: PrintedNumber | null): Promise<Receipt | null> {
    const now = deps.realClock();
    const remembered = exceeded.get(network);
    const usage =
      remembered && remembered.resetsAt > now
        ? remembered
        : await countVerification(deps.counters.em.fork(), network, now);
    if (isExceeded(usage)) {
      exceeded.set(network, usage);
      throw new Refusal('RATE_LIMITED', 'Too many receipts were not found from this address.', {
        retryAfterSeconds: secondsUntilReset(usage, now),
      });
    }
    const receipt = printed && (await findPrintedCfe(deps.orm.em.fork(), printed));
    if (receipt) await forgiveVerification(deps.counters.em.fork(), network);
    return receipt;
  }

  router.get(VERIFICATION_PATH, (ctx) =>
    pages.guard(ctx, VERIFICATION_PATH, async () => {
      const values = FIELDS.map((name) => queryValue(ctx.querystring, name)?.trim() ?? '');
      if (values.every((value) => value === '')) return pages.answer(ctx, 200, verificationPage('form'));
      const type = cfeTypeOfCode(Number(values[1]));
      if (type && CFE_TYPES[type].family !== 'ticket')
        return pages.answer(ctx, 200, verificationPage('other'));
      const network = networkOf(ctx.state.address);
      const receipt = await slots.hold(network, () => lookUp(network, printedNumberOf(values)));
      if (!receipt) return pages.answer(ctx, 404, verificationPage('miss'));
      return pages.answerReceipt(ctx, receipt, 'r/');
    }),
  );
}

const CODE = new RegExp(`^[A-Za-z0-9+/]{${SECURITY_CODE_LENGTH}}$`);

/** Returns the data on the paper; null for data that no e-Ticket can have. */
function printedNumberOf([rut = '', code, serie = '', numero = '', securityCode = '']: readonly string[]) {
  const type = cfeTypeOfCode(Number(code));
  const isPossible =
    type !== undefined &&
    /^\d{12}$/.test(rut) &&
    /^[A-Z\d]{1,2}$/i.test(serie) &&
    /^\d{1,7}$/.test(numero) &&
    CODE.test(securityCode);
  return isPossible ? { rut, type, serie: serie.toUpperCase(), numero: Number(numero), securityCode } : null;
}
