import { createRateLookup, type RateLookup } from '../activities/receipts/lookUpRates.ts';
import type { readConfig } from '../config.ts';
import type { Orm } from '../db/orm.ts';
import { isHeldBack } from '../dgi/answers.ts';
import type { Breakers } from '../dgi/calls.ts';
import { type CentralBank, createCentralBank } from '../dgi/centralBank.ts';
import { createBreakers } from '../gate/breakers.ts';
import { measureCalls } from '../metrics/work.ts';

/** Variables that configure exchange rates. */
export const RATES_VARIABLES = [
  'CFE_RATES_URL',
  'CFE_DGI_CONNECT_SECONDS',
  'CFE_DGI_ANSWER_SECONDS',
] as const;

/**
 * Opens the lookup of rates, in our rows and at the configured central bank; `onCall` is called for every call to the
 * bank.
 */
export function openRates(
  config: ReturnType<typeof readConfig<(typeof RATES_VARIABLES)[number]>>,
  orm: Orm,
  {
    breakers = createBreakers({ orm }),
    onCall = () => undefined,
  }: { breakers?: Breakers; onCall?: Parameters<typeof measureCalls>[0] } = {},
): RateLookup {
  const centralBank = createCentralBank({
    url: config.CFE_RATES_URL,
    timeouts: {
      connectSeconds: config.CFE_DGI_CONNECT_SECONDS,
      answerSeconds: config.CFE_DGI_ANSWER_SECONDS,
    },
    breakers,
  });
  const call = { environment: 'production', service: 'rates' } as const;
  const lastClosing = measureCalls(onCall, { ...call, operation: 'lastClosing' }, centralBank.lastClosing, {
    isHeldBack,
  });
  const measuredBank: CentralBank = {
    closingRates: measureCalls(onCall, { ...call, operation: 'closingRates' }, centralBank.closingRates, {
      isHeldBack,
    }),
    lastClosing: () => lastClosing(undefined),
  };
  return createRateLookup({ orm, centralBank: measuredBank });
}
