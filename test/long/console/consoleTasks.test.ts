import { readFileSync } from 'node:fs';
import { afterAll, describe, expect } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { Webhook as Verifier } from 'standardwebhooks';
import { issueLocalCertificate } from '../../../local/demo/localCertificate.ts';
import { DEMO_RUT as RUT } from '../../../local/demo/onboarding.ts';
import { totpCode } from '../../../src/crypto/totp.ts';
import { faultsIn, openBrowser, signIn, testWithBrowser } from '../../support/console/browser.ts';
import { NIGHTLY } from '../../support/nightly.ts';
import { giveStuckCfes, renewCertificate, stuckOf } from '../../support/receipts/stuckCfes.ts';
import { startTestStack } from '../../support/stacks.ts';
import { PATIENCE, until } from '../../support/until.ts';
import { useStack } from '../../support/useStack.ts';
import { answering, type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';
import { shortenPauses } from '../../support/webhooks/shortPauses.ts';

/** By one run; the others are mended one by one, or ticked. */
const BY_ONE_RUN = NIGHTLY ? 300 : 20;
/** With script, without. */
const ALONE = 2;
const TICKED = [3, 2] as const;
const COUNT = BY_ONE_RUN + ALONE + TICKED[0] + TICKED[1];
/** The worker is killed once so many are done. */
const KILLED_AT = BY_ONE_RUN / 5;
const SCRIPTS = [
  ['with script', true],
  ['without script', false],
] as const;

describe('what a person does in the console, on the whole stack', () => {
  let browser: Browser;
  let operator: BrowserContext;
  let receiver: Receiver;
  /** The numbers that are stuck still, the lowest first. */
  let waiting: string[];
  const stack = useStack(startTestStack, async (made) => {
    const { ca_file, ca_key_file, database_url } = made.info();
    const [caPem, keyPem] = [readFileSync(ca_file, 'utf8'), readFileSync(ca_key_file, 'utf8')];
    const certificate = await issueLocalCertificate({ certificatePem: caPem, keyPem });
    receiver = await startReceiver({ caPem, ...certificate });
    await shortenPauses(database_url);
    await made.onboard([101]);
    waiting = (await giveStuckCfes(made, RUT, COUNT)).sort((a, b) => numberOf(a) - numberOf(b));
    await renewCertificate(made, RUT);
    browser = await openBrowser();
    operator = await anOperator();
  });
  afterAll(async () => {
    await browser?.close();
    await receiver?.close();
  });

  const aContext = async (more: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> => {
    const context = await browser.newContext({
      baseURL: stack.info().console_url,
      locale: 'en-GB',
      ...more,
    });
    return context;
  };
  async function anOperator(): Promise<BrowserContext> {
    const { totp_secret, ...login } = stack.info().console_operator;
    const context = await aContext();
    const page = await context.newPage();
    // No code is taken twice, and this half minute's may have set up the app when the stack began: the next one is good too.
    const code = (): string => totpCode(bytesOf(totp_secret), new Date(Date.now() + 30_000));
    await signIn(page, { ...login, code });
    await page.close();
    return context;
  }
  /** A page of the operator's. */
  async function aPage(javaScriptEnabled: boolean): Promise<{ page: Page; faults: string[] }> {
    const context = await aContext({ javaScriptEnabled, storageState: await operator.storageState() });
    const page = await context.newPage();
    return { page, faults: faultsIn(page) };
  }
  const main = (page: Page): Promise<string> => page.locator('main').innerText();
  /** Waits until a page says so: by itself with script, and by being loaded again without. */
  const says = (page: Page, script: boolean, text: RegExp): Promise<unknown> =>
    script
      ? page.locator('main').getByText(text).first().waitFor()
      : until(`the page to say ${text.source}`, 120, async () => {
          await page.reload();
          return text.test(await main(page));
        });
  const rows = <T extends object>(sql: string, values: unknown[] = []): Promise<T[]> =>
    stack.orm.em.fork().execute<T[]>(sql, values);

  testWithBrowser.each(SCRIPTS)(
    '%s, support finds a stuck receipt by its number, takes its step again, and sees it accepted',
    async (_, script) => {
      const { page, faults } = await aPage(script);
      const cfeId = waiting.shift() ?? '';
      const [of] = await rows<{ serie: string; numero: number }>(
        'select serie, numero from cfe where rut = ? and sequence = ?',
        [RUT, numberOf(cfeId)],
      );
      await page.goto('/');
      await page.locator('input[name=q]').fill(`${of?.serie} ${of?.numero}`);
      await page.keyboard.press('Enter');
      await page.waitForURL(new RegExp(`/cfes/${RUT}/production/${cfeId}$`));
      expect(await main(page)).toContain('signing');
      const retry = page.locator('form[action$="/support"]', { has: page.locator('input[value=retry]') });
      await retry.locator('input[name=reason]').fill('the certificate was renewed');
      await retry.locator('button').click();
      await page.locator('.flash.done').waitFor();
      await says(page, script, /ACCEPTED/);
      expect(await main(page)).toContain('Nothing needs to be done.');
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );

  testWithBrowser.each(SCRIPTS)('%s, rows that were ticked go on by a run', async (_, script) => {
    const { page, faults } = await aPage(script);
    const count = TICKED[script ? 0 : 1];
    await page.goto('/stuck');
    if (script) {
      // By keyboard alone.
      for (let i = 0; i < count; i += 1) for (const key of ['j', 'x']) await page.keyboard.press(key);
      await page.keyboard.press('a');
      await page.keyboard.press('Tab');
      await page.keyboard.type('the certificate was renewed');
      await page.keyboard.press('Enter');
    } else {
      const boxes = page.locator('table.list input[type=checkbox]');
      for (let i = 0; i < count; i += 1) await boxes.nth(i).check();
      const form = page.locator('form[action="/runs"]');
      await form.locator('input[name=reason]').fill('the certificate was renewed');
      await form.locator('button').click();
    }
    await page.waitForURL(/\/runs\/[^/]+$/);
    await says(page, script, new RegExp(`^${count} of ${count}`, 'm'));
    await until(
      'those ticked to go on',
      60,
      async () => (await stuckOf(stack, RUT)) === waiting.length - count,
    );
    waiting.splice(0, count);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  testWithBrowser(
    'many that were stuck for a lost key go on by one decision, each once, though the worker is killed in the middle',
    async () => {
      const { page, faults } = await aPage(true);
      await page.goto('/');
      await page.locator('main a.row', { hasText: 'signing' }).click();
      await page.waitForURL(/\/stuck\?/);
      const reason = page.locator('tr', { hasText: 'signing' }).first();
      await reason.getByRole('link', { name: 'Retry…' }).click();
      expect(await main(page)).toContain(`Receipts: ${BY_ONE_RUN}`);
      await page.locator('form[action="/runs"] input[name=reason]').fill('certificado renovado');
      await page.locator('form[action="/runs"] button').click();
      await page.waitForURL(/\/runs\/[^/]+$/);
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      const done = async (): Promise<number> =>
        (await rows<{ done: number }>('select done from run where id = ?', [id]))[0]?.done ?? 0;
      await until('the run to be in its middle', 300, async () => (await done()) >= KILLED_AT);
      const killed = stack.info().pids.worker ?? 0;
      expect(killed).toBeGreaterThan(0);
      process.kill(killed, 'SIGKILL');

      // The page follows the run by itself.
      const ended = page.locator('main').getByText(`${BY_ONE_RUN} of ${BY_ONE_RUN}`);
      await ended.first().waitFor({ timeout: 600_000 * PATIENCE });
      await page.locator('.mark.good', { hasText: 'finished' }).waitFor();
      expect(await main(page)).toContain('All were processed.');
      expect(faults).toEqual([]);
      await page.context().close();

      expect(stack.info().pids.worker).not.toBe(killed);
      expect(await actsOf(id)).toEqual({
        acts: BY_ONE_RUN,
        cfes: BY_ONE_RUN,
        reasons: [`certificado renovado (${id})`],
        actors: [`console:${stack.info().console_operator.email}`],
      });
      expect(await stuckOf(stack, RUT)).toBe(0);
      await until('every verdict', 600, async () => {
        const [row] = await rows<{ n: number }>(
          `select count(*)::int as n from cfe where rut = ? and status = 'ACCEPTED'`,
          [RUT],
        );
        return row?.n === COUNT;
      });
      const ledger = await stack.ledger(RUT);
      expect(ledger).toHaveLength(COUNT);
      expect(ledger.filter(({ times_received }) => times_received !== 1)).toEqual([]);
      expect(await stack.cli.json('run', 'show', id)).toMatchObject({
        state: 'DONE',
        total: BY_ONE_RUN,
        done: BY_ONE_RUN,
        refusals: [],
        workflow_id: `run:${id}`,
      });
    },
  );

  testWithBrowser.each(SCRIPTS)(
    '%s, a customer adds a webhook, tests it, sees it fail, and sends the failed ones again',
    async (_, script) => {
      const context = await aContext({ javaScriptEnabled: script });
      const page = await context.newPage();
      const faults = faultsIn(page);
      await signIn(page, stack.info().console_customer);
      await page.locator('nav').getByRole('link', { name: 'Webhooks', exact: true }).click();
      const url = receiver.url(script ? '/with-script' : '/without-script');
      const add = page.locator('form[action="/webhooks"]');
      await add.locator('input[name=url]').fill(url);
      await add.locator('input[value="cae.low"]').check();
      await add.locator('button').click();
      const secret = await page.locator('.once').innerText();
      await page.locator('a.after-once').click();
      await page.waitForURL(/\/webhooks\/[\w-]+$/);
      const hook = page.url();

      // Two tests, each tried four times: the receiver is away.
      const before = receiver.received.length;
      receiver.script.push(...Array.from({ length: 8 }, () => answering(503, 'away')));
      for (let i = 0; i < 2; i += 1) {
        await page.goto(hook);
        await page.locator('form[action$="/test"] button').click();
        await page.waitForURL(/\/deliveries\/[\w-]+$/);
        await says(page, script, /^failed$/m);
        expect(await page.locator('tbody tr', { hasText: '503' }).count()).toBe(4);
      }
      expect(receiver.received).toHaveLength(before + 8);

      await page.goto(hook);
      await page.locator('form[action="/runs/new"] button').click();
      expect(await main(page)).toContain('Deliveries: 2');
      await page.locator('form[action="/runs"] input[name=reason]').fill('the receiver is back');
      await page.locator('form[action="/runs"] button').click();
      await page.waitForURL(/\/runs\/[^/]+$/);
      await says(page, script, /^2 of 2/m);
      await page.goto(hook);
      await until('both deliveries to arrive', 60, async () => {
        await page.reload();
        return (await page.locator('table.list .mark.good', { hasText: 'delivered' }).count()) === 2;
      });
      const last = receiver.received.slice(before + 8);
      expect(last).toHaveLength(2);
      for (const { body, headers } of last)
        expect(new Verifier(secret).verify(body, headers)).toMatchObject({ event: 'webhook.test' });
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  /** What the audit has of the acts of a run. */
  async function actsOf(run: string) {
    const acts = await rows<{ subject: string; reason: string; actor: string }>(
      `select subject, reason, actor from audit where action = 'cfe.retry' and rut = ? and reason like ?`,
      [RUT, `%(${run})`],
    );
    const unlike = (all: string[]): string[] => [...new Set(all)];
    return {
      acts: acts.length,
      cfes: unlike(acts.map(({ subject }) => subject)).length,
      reasons: unlike(acts.map(({ reason }) => reason)),
      actors: unlike(acts.map(({ actor }) => actor)),
    };
  }
});

/** The number in a cfe_id. */
const numberOf = (cfeId: string): number => Number(cfeId.split('-')[1]);

/** What a person's app makes of the secret that they typed into it (RFC 4648, base 32). */
function bytesOf(secret: string): Uint8Array {
  const bits = Array.from(secret, (one) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'),
  );
  return Uint8Array.from(bits.join('').match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}
