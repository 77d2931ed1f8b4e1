import { browserOn, PASSWORD } from '../../../test/support/console/console.ts';
import { same } from './checks.ts';

const CONSOLE = 'http://127.0.0.1:3001';

/** A member of an account is invited by the command line, sets a password by the link, signs in, and sees the first page. */
export async function enterConsole(shell: (script: string) => string, accountId: string): Promise<void> {
  const email = 'beto@example.com';
  const said = shell(
    `docker compose run --rm cfe user create --email ${email} --account ${accountId} --role OWNER --by ana`,
  );
  const [, invitation = ''] = /(\/invitation\/[\w-]+)/.exec(said) ?? [];
  const browser = browserOn(CONSOLE);
  const accepted = await browser.send(invitation, { password: PASSWORD, code: '' }, invitation);
  same([accepted.status, accepted.to], [303, '/sign-in'], 'what the invitation answers');
  const entered = await browser.send('/sign-in', { email, password: PASSWORD }, '/sign-in');
  same([entered.status, entered.to], [303, '/'], 'what signing in answers');
  const first = await browser.get('/');
  same([first.status, first.text.includes(email)], [200, true], 'the first page');
}
