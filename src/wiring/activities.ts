/** The activities of the worker, by the task queue that serves them, each made from what it may touch. */
import { readFileSync } from 'node:fs';
import type { Registry } from 'prom-client';
import type { Activities } from '../activities/activities.ts';
import { createAttemptDelivery } from '../activities/attemptDelivery.ts';
import { createAwaitVerdict } from '../activities/awaitVerdict.ts';
import { createDeleteExpired } from '../activities/deleteExpired.ts';
import { createMakeReadyWhenComplete } from '../activities/makeReadyWhenComplete.ts';
import { createRecordExpiries } from '../activities/recordExpiries.ts';
import { createSignCfe } from '../activities/signCfe.ts';
import { createAuthority } from '../activities/steps/authority.ts';
import { createSubmitCfe } from '../activities/submitCfe.ts';
import { createSupportCfe } from '../activities/supportCfe.ts';
import { createValidateLogin, type Login } from '../activities/validateLogin.ts';
import type { CommandDeps } from '../commands/steps/deps.ts';
import type { readConfig } from '../config.ts';
import { createOpener, type Opener } from '../crypto/sealed.ts';
import type { Certificate } from '../db/entities/Certificate.ts';
import type { Orm } from '../db/orm.ts';
import { HeldBack } from '../dgi/callPermit.ts';
import { createCredentialsCheck } from '../dgi/credentials.ts';
import { keptByCertificate } from '../dgi/keptByCertificate.ts';
import { createSigner } from '../dgi/sign.ts';
import { writeCfe } from '../dgi/xml/cfe.ts';
import { createBreakers } from '../gate/breakers.ts';
import { createGate } from '../gate/gate.ts';
import {
  measureAuthority,
  measured,
  measurePurges,
  measureVerdicts,
  measureWebhooks,
} from '../metrics/work.ts';
import { createPlaces } from '../webhooks/places.ts';
import { createSender } from '../webhooks/send.ts';
import { authorityRutsOf, DGI_VARIABLES, openDgiClient } from './dgiClient.ts';
import { privateKeysUnder } from './privateKeys.ts';

/** What the activities are configured by. */
export const ACTIVITY_VARIABLES = [
  ...DGI_VARIABLES,
  'CFE_KEY_ENCRYPTION_KEYS',
  'CFE_DGI_CFE_HASH',
  'CFE_CREDENTIALS_URL',
  'CFE_DGI_SENDS_PER_SECOND',
  'CFE_POLL_LONGEST_SECONDS',
  'CFE_PATIENCE',
  'CFE_WEBHOOK_LOCAL_CA_FILE',
  'CFE_KEEP_OUTBOX_DAYS',
  'CFE_KEEP_EVENTS_DAYS',
  'CFE_KEEP_ATTEMPTS_DAYS',
  'CFE_KEEP_REPLACED_KEYS_DAYS',
] as const;

interface Parts {
  readonly config: ReturnType<typeof readConfig<(typeof ACTIVITY_VARIABLES)[number]>>;
  readonly orm: Orm;
  readonly clock: () => Date;
  readonly outbox: CommandDeps['outbox'];
  readonly registry: Registry;
  readonly opener: Opener;
}

/** All activities, by the names of `TASK_QUEUES`. */
export function createActivities(parts: Omit<Parts, 'opener'>) {
  const all: Parts = { ...parts, opener: createOpener(parts.config.CFE_KEY_ENCRYPTION_KEYS) };
  return { cfe: databaseActivities(all), dgi: authorityActivities(all), webhooks: webhookActivities(all) };
}

/** What touches only our database, and signs. */
function databaseActivities({
  config,
  orm,
  clock,
  registry,
  opener,
}: Parts): Pick<Activities, 'signCfe' | 'makeReadyWhenComplete' | 'recordExpiries' | 'deleteExpired'> {
  const privateKeyOf = privateKeysUnder(opener);
  const signerOf = keptByCertificate((certificate: Certificate) =>
    createSigner({
      privateKey: privateKeyOf(certificate),
      certificateDer: certificate.certificate,
      hash: config.CFE_DGI_CFE_HASH,
    }),
  );
  return {
    signCfe: createSignCfe({
      orm,
      clock,
      authorityRut: authorityRutsOf(config),
      signDocument: (document, certificate) => signerOf(certificate).sign(writeCfe(document)),
    }),
    makeReadyWhenComplete: createMakeReadyWhenComplete({ orm, clock }),
    recordExpiries: createRecordExpiries({ orm, clock }),
    deleteExpired: createDeleteExpired({
      orm,
      clock,
      retention: {
        outboxDays: config.CFE_KEEP_OUTBOX_DAYS,
        eventsDays: config.CFE_KEEP_EVENTS_DAYS,
        attemptsDays: config.CFE_KEEP_ATTEMPTS_DAYS,
        keysDays: config.CFE_KEEP_REPLACED_KEYS_DAYS,
      },
      onPurged: measurePurges(registry),
    }),
  };
}

/** What calls the authority, or its check of logins. */
function authorityActivities({
  config,
  orm,
  clock,
  outbox,
  registry,
  opener,
}: Parts): Pick<Activities, 'submitCfe' | 'awaitVerdict' | 'supportCfe' | 'validateLogin'> {
  const onCall = measureAuthority(registry);
  const breakers = createBreakers({ orm });
  const client = openDgiClient(config, orm, { onCall, breakers });
  const deciding = {
    orm,
    clock,
    outbox,
    authority: createAuthority({ client, orm, privateKeyOf: keptByCertificate(privateKeysUnder(opener)) }),
    onVerdict: measureVerdicts(registry),
    pollLongestSeconds: config.CFE_POLL_LONGEST_SECONDS,
    patienceSeconds: config.CFE_PATIENCE,
  };
  const checkLogin = measured(
    onCall,
    { environment: 'production', service: 'credentials', operation: 'checkLogin' },
    createCredentialsCheck({
      url: config.CFE_CREDENTIALS_URL,
      timeoutSeconds: config.CFE_DGI_ANSWER_SECONDS,
      breakers,
    }),
    { isHeldBack: (error) => error instanceof Error && error.cause instanceof HeldBack },
  );
  return {
    submitCfe: createSubmitCfe({
      ...deciding,
      authorityRut: authorityRutsOf(config),
      gate: createGate({ orm, sendsPerSecond: config.CFE_DGI_SENDS_PER_SECOND, breakers }),
    }),
    awaitVerdict: createAwaitVerdict(deciding),
    supportCfe: createSupportCfe(deciding),
    validateLogin: createValidateLogin({ orm, clock, outbox, openLogin: loginsUnder(opener), checkLogin }),
  };
}

/** Opens the e-invoicing logins of enterprises; null where an enterprise has given none. */
const loginsUnder =
  (opener: Opener) =>
  ({ rut, sealedLogin }: { rut: string; sealedLogin: string | null }): Login | null => {
    if (sealedLogin === null) return null;
    const login = opener.open(sealedLogin, { purpose: 'efactura-login', rut, rowId: rut });
    return JSON.parse(login.toString('utf8')) as Login;
  };

/** What calls customers' servers. */
function webhookActivities({
  config,
  orm,
  clock,
  registry,
  opener,
}: Parts): Pick<Activities, 'attemptDelivery'> {
  const file = config.CFE_WEBHOOK_LOCAL_CA_FILE;
  return {
    attemptDelivery: createAttemptDelivery({
      orm,
      clock,
      opener,
      send: createSender({ localCa: file === '' ? undefined : readFileSync(file, 'utf8') }),
      places: createPlaces(),
      onAttempt: measureWebhooks(registry),
    }),
  };
}
