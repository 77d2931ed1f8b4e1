import { CancellationScope, getCurrentDetails, setCurrentDetails } from '@temporalio/workflow';

/**
 * A workflow that Cancel does nothing to: what it is to do was promised, and ends by the rows, for which there are commands.
 * Whoever cancels it is told so in its details.
 */
export const uncancelled =
  <I extends unknown[], R>(work: (...input: I) => Promise<R>) =>
  (...input: I): Promise<R> => {
    CancellationScope.current().cancelRequested.catch(() => {
      setCurrentDetails(`Cancel does nothing here: what is promised is done. ${getCurrentDetails()}`);
    });
    return CancellationScope.nonCancellable(() => work(...input));
  };
