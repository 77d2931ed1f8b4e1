import { proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { CredentialActivities, ValidationResult } from '../activities/credentials.ts';
import { validateAgain } from './messages.ts';
import { AUTHORITY } from './options.ts';

const { validateLogin } = proxyActivities<CredentialActivities>({
  ...AUTHORITY,
  summary: 'Ask the authority whether the login holds',
});

export interface ValidateCredentialsInput {
  rut: string;
}

/**
 * Checks an enterprise's e-invoicing login and stores what it may do; ends with the result of part 3.4. A request that
 * comes while it runs joins it; one that comes just as it ends makes it look once more, so that none is lost.
 */
export async function validateCredentials({
  rut,
}: ValidateCredentialsInput): Promise<{ result: ValidationResult | 'nothing_to_do' }> {
  let again = true;
  setHandler(validateAgain, () => {
    again = true;
  });
  let result: ValidationResult | 'nothing_to_do' = 'nothing_to_do';
  while (again) {
    again = false;
    setCurrentDetails('Asking the authority; repeated until it answers.');
    const outcome = await validateLogin(rut);
    result = outcome.result ?? result;
  }
  setCurrentDetails(`Ended: ${result}.`);
  return { result };
}
