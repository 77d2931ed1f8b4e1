import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCustomer } from '../../../src/commands/enterprises/customers.ts';
import { addWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { Mail } from '../../../src/db/entities/mail.ts';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { CustomerBody } from '../../../src/domain/enterprises/customer.ts';
import { MAIL_RETRY_DELAYS } from '../../../src/domain/mail/mail.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { customerBody } from '../../support/enterprises/customers.ts';
import { anIssuer, giveCfes, RECEIVER } from '../../support/mail/receipts.ts';
import { decideCfe } from '../../support/temporal/verdicts.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const NOW = new Date('2026-11-20T12:05:00Z');
const NOTIFICATIONS: CustomerBody['notifications'] = [
  { type: 'EMAIL', destination: 'compras@cliente.example', enabled: true },
  { type: 'EMAIL', destination: 'apagado@cliente.example', enabled: false },
  { type: 'EMAIL', destination: 'Conta@Cliente.example', enabled: true },
  { type: 'EMAIL', destination: 'compras@cliente.example', enabled: true },
];

describe.each(['where nobody else is told', 'where a webhook hears of it'])(
  'the e-mails of a verdict, %s',
  (where) => {
    let db: TestDatabase;
    let issuer: Awaited<ReturnType<typeof anIssuer>>;
    beforeAll(async () => {
      db = await cloneDatabase({ worker: true });
      issuer = await anIssuer(db.orm);
      const commands = { orm: db.orm, clock: () => NOW, outbox: idleOutbox };
      await createCustomer(commands, {
        rut: issuer.rut,
        customer: customerBody({ doc_number: RECEIVER.number, notifications: NOTIFICATIONS }),
      });
      if (where.includes('webhook')) {
        const { accountId } = issuer;
        await addWebhook(webhookDeps(db.orm), {
          accountId,
          url: 'https://a.example/',
          events: ['cfe.updated'],
        });
      }
    });
    afterAll(() => db[Symbol.asyncDispose]());

    let dispatches = 0;
    const deps = (sandboxMails?: readonly string[]) => ({
      orm: db.worker,
      clock: () => NOW,
      outbox: { scheduleDispatch: () => void (dispatches += 1) },
      sandboxMails,
    });
    const decide = (
      cfe: Cfe,
      status: 'ACCEPTED' | 'OBSERVED' | 'REJECTED',
      sandboxMails?: readonly string[],
    ) => decideCfe(deps(sandboxMails), cfe.id, { status, reasons: [] });
    const mailsOf = (cfe: Cfe): Promise<Mail[]> =>
      db.orm.em.fork().find(Mail, { cfeUuid: cfe.id }, { orderBy: { destination: 'asc' } });
    const started = async (cfe: Cfe): Promise<OutboxMessage[]> =>
      (await db.orm.em.fork().find(OutboxMessage, { workflow: 'deliverReceipt' })).filter(
        ({ searchAttributes: { CfeId, EnterpriseRut } }) =>
          CfeId?.[0] === `101-${cfe.sequence}` && EnterpriseRut === cfe.rut,
      );

    test.each(['ACCEPTED', 'OBSERVED'] as const)(
      '%s: one for each enabled address, with its workflow',
      async (status) => {
        const [cfe] = (await giveCfes(db.orm, issuer, { status: 'RECEIVED' })) as [Cfe];

        dispatches = 0;
        await decide(cfe, status);

        const mails = await mailsOf(cfe);
        expect(mails).toMatchObject([
          {
            destination: 'Conta@Cliente.example',
            kind: 'RECEIPT',
            status: 'PENDING',
            attempts: 0,
            byHand: false,
          },
          {
            destination: 'compras@cliente.example',
            rut: issuer.rut,
            environment: 'production',
            createdAt: NOW,
          },
        ]);
        expect(mails.map(({ id, workflowId }) => workflowId === `mail:${id}`)).toEqual([true, true]);
        const messages = await started(cfe);
        expect(messages.map(({ workflowId }) => workflowId).sort()).toEqual(
          mails.map(({ workflowId }) => workflowId).sort(),
        );
        expect(messages[0]?.input).toEqual({
          mailId: messages[0]?.workflowId.slice('mail:'.length),
          delays: MAIL_RETRY_DELAYS,
        });
        expect(messages[0]?.searchAttributes).toEqual({
          EnterpriseRut: issuer.rut,
          Environment: 'production',
          CfeType: 'ETICKET',
          CfeId: [`101-${cfe.sequence}`],
        });
        expect(dispatches).toBeGreaterThan(0);
        expect(JSON.stringify(messages)).not.toMatch(/@|Cliente|\b1220\b/);
      },
    );

    test('REJECTED: none', async () => {
      const [cfe] = (await giveCfes(db.orm, issuer, { status: 'RECEIVED' })) as [Cfe];

      await decide(cfe, 'REJECTED');

      expect(await mailsOf(cfe)).toEqual([]);
    });

    test.each([
      ['whose receiver is nobody’s customer', { document: { ...RECEIVER, number: '214844360018' } }],
      ['whose receiver has no document', { legalName: 'Consumidor final' }],
      ['without a receiver', undefined],
    ])('a CFE %s: none', async (_, receiver) => {
      const [cfe] = (await giveCfes(db.orm, issuer, { status: 'RECEIVED', receiver })) as [Cfe];

      await decide(cfe, 'ACCEPTED');

      expect(await db.orm.em.fork().findOneOrFail(Cfe, { id: cfe.id })).toMatchObject({ status: 'ACCEPTED' });
      expect(await mailsOf(cfe)).toEqual([]);
    });

    test('the customer of another enterprise is told nothing', async () => {
      const other = await anIssuer(db.orm);
      const [cfe] = (await giveCfes(db.orm, other, { status: 'RECEIVED' })) as [Cfe];

      await decide(cfe, 'ACCEPTED');

      expect(await mailsOf(cfe)).toEqual([]);
    });

    test('sandbox: only to the addresses that the operator has named', async () => {
      const [first, second] = (await giveCfes(db.orm, issuer, {
        status: 'RECEIVED',
        environment: 'sandbox',
        count: 2,
      })) as [Cfe, Cfe];

      await decide(first, 'ACCEPTED');
      await decide(second, 'ACCEPTED', ['conta@cliente.example', 'otro@example.com']);

      expect(await mailsOf(first)).toEqual([]);
      expect(await mailsOf(second)).toMatchObject([
        { destination: 'Conta@Cliente.example', environment: 'sandbox' },
      ]);
    });

    test('a verdict that is stored by two at once, and once more, has its e-mails once', async () => {
      const [cfe] = (await giveCfes(db.orm, issuer, { status: 'RECEIVED' })) as [Cfe];

      await Promise.all(Array.from({ length: 8 }, () => decide(cfe, 'ACCEPTED')));
      await decide(cfe, 'OBSERVED');

      expect(await mailsOf(cfe)).toHaveLength(2);
      expect(await started(cfe)).toHaveLength(2);
    });

    test('a verdict whose e-mails cannot be stored is not stored', async () => {
      const [cfe] = (await giveCfes(db.orm, issuer, { status: 'RECEIVED' })) as [Cfe];
      await db.asOwner(`alter table mail add constraint none_now check (cfe_uuid <> '${cfe.id}')`);

      await expect(decide(cfe, 'ACCEPTED')).rejects.toThrow('none_now');

      expect(await db.orm.em.fork().findOneOrFail(Cfe, { id: cfe.id })).toMatchObject({ status: 'RECEIVED' });
      await db.asOwner('alter table mail drop constraint none_now');
      await decide(cfe, 'ACCEPTED');
      expect(await mailsOf(cfe)).toHaveLength(2);
    });
  },
);
