import { setCurrentDetails } from '@temporalio/workflow';
import type { ExchangeResult } from '../domain/activityResults.ts';
import { activity, OTHER_CALL, withoutCancellation } from './common.ts';

const prepareExchange = activity('prepareExchange', {
  ...OTHER_CALL,
  summary: 'Find out whether the receiver is an electronic one, and put the sobre on its way',
});

export interface ExchangeCfeInput {
  cfeUuid: string;
}

const WORDS: Readonly<Record<ExchangeResult['kind'], string>> = {
  onItsWay: 'Ended: the sobre is on its way by e-mail.',
  notElectronic: 'Ended: the receiver is no electronic issuer, so there is nothing to send.',
  noAddress:
    'Ended: the receiver is an electronic issuer, but the authority tells no address to send to. The company asks it for one.',
};

/** Brings an ACCEPTED or OBSERVED CFE to its receiver, if that is an electronic one; ends with what came of it. */
export const exchangeCfe = withoutCancellation(
  async ({ cfeUuid }: ExchangeCfeInput): Promise<{ result: ExchangeResult['kind'] }> => {
    setCurrentDetails(
      'Looking the receiver up; the authority is asked before the first sending, until it answers.',
    );
    const { kind } = await prepareExchange(cfeUuid);
    setCurrentDetails(WORDS[kind]);
    return { result: kind };
  },
);
