/** A console process under attack beside the stack, with people of its own. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { StackSecrets } from '../../../local/stack/secrets.ts';
import { signInByOidc } from '../../../src/commands/people/sessions.ts';
import { acceptInvitation, createUser } from '../../../src/commands/people/users.ts';
import { readConfig } from '../../../src/config.ts';
import { createPasswords } from '../../../src/crypto/passwords.ts';
import { createTotpSecrets } from '../../../src/crypto/totp.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { MemberRole } from '../../../src/domain/people/people.ts';
import { type Attack, type Ground, limitsOf, median, slowness } from '../api/abuse.ts';
import { anAccount, idleOutbox } from '../commandDeps.ts';
import { type ExtraProgram, startBeside } from '../stacks.ts';
import { type Browser, browserOn, PASSWORD } from './console.ts';

const PROBES_AT_LEAST = 4;
const PAGES = ['/', '/cfes', '/enterprises'];

/** What these attacks happen on. */
export interface ConsoleGround {
  readonly orm: Orm;
  /** Without a slash at its end. */
  readonly url: string;
  /** Signed in as VIEWER of an account of their own. */
  readonly attacker: Browser;
  /** Who must not notice: a VIEWER of another account, and an operator. */
  readonly victims: readonly Browser[];
  /** Somebody who belongs to an account, signed in. */
  readonly aMember: (accountId: string, role: MemberRole) => Promise<Browser>;
  /** Signs the first victim in once more, in the same browser; the status. */
  readonly signInAgain: () => Promise<number>;
}

/** An attack on the console; its parts are those of `Attack`. */
interface ConsoleAttack extends Pick<Attack, 'name' | 'answers'> {
  readonly times: number;
  readonly atOnce: number;
  readonly prepare?: (ground: ConsoleGround) => Promise<void>;
  readonly send: (ground: ConsoleGround, place: number) => Promise<number>;
  /** Done by a victim besides reading pages. */
  readonly meanwhile?: (ground: ConsoleGround) => Promise<void>;
}

/** The console that the attacks of a file share: started by the first of them, ended by `close`. */
export function openConsole() {
  let started: Promise<{ program: ExtraProgram; ground: ConsoleGround }> | undefined;
  const groundOn = async (ground: Ground): Promise<ConsoleGround> => {
    started ??= start(ground);
    return (await started).ground;
  };
  return {
    async close(): Promise<void> {
      await (await started)?.program.stop();
    },
    /** The row of the suite: while it runs, the victims at the console read pages. It fails where one of them waits or is refused. */
    attack({ prepare, send, meanwhile, ...row }: ConsoleAttack): Attack {
      const run = { answered: 0, others: undefined as Promise<unknown> | undefined };
      return {
        ...row,
        async prepare(ground) {
          await prepare?.(await groundOn(ground));
        },
        async send(ground, place) {
          const at = await groundOn(ground);
          run.others ??= Promise.all([readPages(at, () => run.answered === row.times), meanwhile?.(at)]);
          // A failure of theirs is told by the request that ends last.
          run.others.catch(() => undefined);
          // Counted also where it throws: the victims read until all have ended.
          const status = await send(at, place).finally(() => (run.answered += 1));
          if (run.answered === row.times) await run.others;
          return status;
        },
      };
    },
  };
}

/** Has the victims read one page after the other; what they wait for is limited as reads of the API are. */
async function readPages({ victims }: ConsoleGround, isOver: () => boolean): Promise<void> {
  const waited: number[] = [];
  for (let place = 0; !isOver() || place < PROBES_AT_LEAST; place += 1) {
    const path = PAGES[place % PAGES.length] ?? '/';
    const begun = performance.now();
    const shown = await victims[place % victims.length]?.get(path);
    const milliseconds = Math.ceil(performance.now() - begun);
    if (shown?.status !== 200)
      throw new Error(`${path} was answered to another with ${shown?.status} after ${milliseconds} ms`);
    waited.push(milliseconds);
    await pause(50);
  }
  const limits = limitsOf(slowness(), 'GET');
  const [middle, worst] = [median(waited), Math.max(...waited)];
  if (middle > limits.median || worst > limits.worst)
    throw new Error(`another waited ${middle} ms for a page in the middle, ${worst} ms at worst`);
}

async function start({ stack }: Ground): Promise<{ program: ExtraProgram; ground: ConsoleGround }> {
  const secrets = JSON.parse(readFileSync(join(stack.dataDir, 'secrets.json'), 'utf8')) as StackSecrets;
  const deps = {
    orm: stack.orm,
    clock: () => new Date(),
    outbox: idleOutbox,
    passwords: createPasswords(),
    totpSecrets: createTotpSecrets(
      readConfig(['CFE_CONSOLE_PEPPER'], { CFE_CONSOLE_PEPPER: secrets.console_pepper }).CFE_CONSOLE_PEPPER,
    ),
  };
  // As a proxy that tells every attacker's network.
  const program = await startBeside(stack, 'console', { CFE_TRUSTED_PROXIES: '1' });
  const url = new URL(program.baseUrl).origin;
  const newEmail = (): string => `abuse.${randomUUID()}@example.com`;

  let lastAddress = 100;
  async function aMember(position: { accountId: string; role: MemberRole }) {
    const browser = browserOn(url, { 'x-forwarded-for': `192.0.2.${(lastAddress += 1)}` });
    const email = newEmail();
    const { invitation } = await createUser(deps, { email, ...position });
    await acceptInvitation(deps, { token: invitation?.token ?? '', password: PASSWORD, code: '' });
    const signIn = async () => (await browser.send('/sign-in', { email, password: PASSWORD })).status;
    await signIn();
    return { browser, signIn };
  }
  async function anOperator(address: string): Promise<Browser> {
    const browser = browserOn(url, { 'x-forwarded-for': address });
    const identity = {
      subject: randomUUID(),
      email: newEmail(),
      emailVerified: true,
      operatorRole: 'VIEWER',
    } as const;
    browser.cookies.set('cfe_session', await signInByOidc(deps, identity, { address, browser: 'a test' }));
    return browser;
  }
  const aViewer = async () => aMember({ accountId: await anAccount(stack.orm), role: 'VIEWER' });
  const attacker = await aViewer();
  const victim = await aViewer();
  const ground: ConsoleGround = {
    orm: stack.orm,
    url,
    attacker: attacker.browser,
    victims: [victim.browser, await anOperator('192.0.2.30')],
    aMember: async (accountId, role) => (await aMember({ accountId, role })).browser,
    signInAgain: victim.signIn,
  };
  return { program, ground };
}
