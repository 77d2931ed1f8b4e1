import { setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { LoginResult } from '../domain/webhooks/webhookEvents.ts';
import { activity, OTHER_CALL, validateAgain, withoutCancellation } from './common.ts';

const validateLogin = activity('validateLogin', {
  ...OTHER_CALL,
  summary: 'Ask the authority whether the login is valid',
});

export interface ValidateCredentialsInput {
  rut: string;
}

/**
 * Checks an enterprise's e-invoicing login and stores its permissions; ends with the result. A request during
 * the check joins it; a request just as the check ends causes another check, so that no request is lost.
 */
export const validateCredentials = withoutCancellation(
  async ({ rut }: ValidateCredentialsInput): Promise<{ result: LoginResult | 'nothing_to_do' }> => {
    let again = true;
    setHandler(validateAgain, () => {
      again = true;
    });
    let result: LoginResult | 'nothing_to_do' = 'nothing_to_do';
    while (again) {
      again = false;
      setCurrentDetails('Asking the authority; repeated until it answers.');
      const validated = await validateLogin(rut);
      if (validated.kind === 'checked') result = validated.result;
    }
    setCurrentDetails(`Ended: ${result}.`);
    return { result };
  },
);
