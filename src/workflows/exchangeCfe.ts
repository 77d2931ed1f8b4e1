import { setCurrentDetails } from '@temporalio/workflow';
import type { ExchangeResult } from '../domain/authority/activityResults.ts';
import { activity, OTHER_CALL, withoutCancellation } from './common.ts';

const prepareExchange = activity('prepareExchange', {
  ...OTHER_CALL,
  summary: 'Check whether the receiver is an electronic issuer, and send it the sobre',
});

export interface ExchangeCfeInput {
  cfeUuid: string;
}

const WORDS: Readonly<Record<ExchangeResult['kind'], string>> = {
  onItsWay: 'Ended: the sobre is on its way by e-mail.',
  notElectronic: 'Ended: the receiver is not an electronic issuer, so there is nothing to send.',
  noAddress:
    'Ended: the receiver is an electronic issuer, but the authority lists no address for it. The company can ask the receiver for one.',
};

/** Sends an ACCEPTED or OBSERVED CFE to a receiver that is an electronic issuer; ends with the result. */
export const exchangeCfe = withoutCancellation(
  async ({ cfeUuid }: ExchangeCfeInput): Promise<{ result: ExchangeResult['kind'] }> => {
    setCurrentDetails(
      'Looking up the receiver; before its first sobre the authority is asked until it answers.',
    );
    const { kind } = await prepareExchange(cfeUuid);
    setCurrentDetails(WORDS[kind]);
    return { result: kind };
  },
);
