/** Creates the worker's activities, by task queue, each with its dependencies only. */
import { readFileSync } from 'node:fs';
import type { Registry } from 'prom-client';
import type { Activities } from '../activities/activities.ts';
import { createAskRejected } from '../activities/authority/askRejected.ts';
import { reportBugs } from '../activities/authority/attempt.ts';
import { createAuthority } from '../activities/authority/authority.ts';
import { createCheckCaeStart } from '../activities/authority/checkCaeStart.ts';
import { acceptReportOnlyCfes, signWaitingCfes } from '../activities/authority/prepareSobre.ts';
import { createTakeToVerdict } from '../activities/authority/takeToVerdict.ts';
import { createIssueTestReceipts } from '../activities/enterprises/issueTestReceipts.ts';
import { createMakeReadyWhenComplete } from '../activities/enterprises/makeReadyWhenComplete.ts';
import { createRecordExpiries } from '../activities/enterprises/recordExpiries.ts';
import { createReportTestRun } from '../activities/enterprises/reportTestRun.ts';
import { createStopTestRun } from '../activities/enterprises/stopTestRun.ts';
import { createValidateLogin, type Login } from '../activities/enterprises/validateLogin.ts';
import { createAttemptMail } from '../activities/mail/attemptMail.ts';
import { composeExchange } from '../activities/mail/composeExchange.ts';
import { composeReceipt } from '../activities/mail/composeReceipt.ts';
import { createLoadDirectory } from '../activities/mail/loadDirectory.ts';
import { createPrepareExchange } from '../activities/mail/prepareExchange.ts';
import { printSignedCfe } from '../activities/mail/printSignedCfe.ts';
import { createActOnItems, createStopItems } from '../activities/operations/actOnItems.ts';
import { createDeleteExpired } from '../activities/operations/deleteExpired.ts';
import { createRecoverRuns } from '../activities/operations/recoverRuns.ts';
import { createSupportCfe } from '../activities/operations/supportCfe.ts';
import { createStopExport, createWriteExport } from '../activities/receipts/writeExport.ts';
import { createAskReport } from '../activities/reports/askReport.ts';
import { createPrepareReport } from '../activities/reports/prepareReport.ts';
import { createStartReports } from '../activities/reports/startReports.ts';
import { createSubmitReport } from '../activities/reports/submitReport.ts';
import { createSupportReport } from '../activities/reports/supportReport.ts';
import { createAttemptDelivery } from '../activities/webhooks/attemptDelivery.ts';
import {
  annulTestNumber,
  issueTestReceipt,
  requestTestReport,
} from '../commands/enterprises/testRunSteps.ts';
import { actOnRunItem } from '../commands/operations/actOnRunItem.ts';
import type { SupportCfeDeps } from '../commands/operations/supportCfe.ts';
import type { IssueDeps } from '../commands/receipts/issueCfe.ts';
import type { readConfig } from '../config.ts';
import { createOpener, type Opener } from '../crypto/sealed.ts';
import type { Certificate } from '../db/entities/enterprises.ts';
import type { Orm } from '../db/orm.ts';
import { isHeldBack } from '../dgi/answers.ts';
import { cacheByCertificate } from '../dgi/cacheByCertificate.ts';
import { createCredentialsCheck } from '../dgi/credentials.ts';
import { createSigner } from '../dgi/sign.ts';
import { writeCfe } from '../dgi/xml/cfe.ts';
import { writeReport } from '../dgi/xml/report.ts';
import type { CfeDocument } from '../domain/receipts/cfeDocument.ts';
import { createBreakers } from '../gate/breakers.ts';
import { createGate, type Gate } from '../gate/gate.ts';
import { createGatekeeper, type Gatekeeper } from '../gate/gatekeeper.ts';
import { createReportSlots } from '../gate/reportSlots.ts';
import type { Logger } from '../logger.ts';
import {
  measureAuthority,
  measureCalls,
  measureMails,
  measurePurges,
  measureVerdicts,
  measureWebhooks,
} from '../metrics/work.ts';
import { drawReceipt } from '../print/drawReceipt.ts';
import { createReceiptPdfs, type Draw } from '../print/receiptPdfs.ts';
import { createSender } from '../webhooks/send.ts';
import { createDeliverySlots } from '../webhooks/slots.ts';
import { openRevocationLookUp, readCertificateAuthorities } from './certificateAuthorities.ts';
import { AUTHORITY_RUT_VARIABLES, authorityRutsOf, DGI_VARIABLES, openDgiClient } from './dgiClient.ts';
import { MAIL_VARIABLES, openMailer } from './mailer.ts';
import { paceOf } from './pace.ts';
import { createKeyOpener } from './privateKeys.ts';
import { openRates, RATES_VARIABLES } from './rates.ts';

/** Variables that configure the activities. */
export const ACTIVITY_VARIABLES = [
  ...DGI_VARIABLES,
  ...AUTHORITY_RUT_VARIABLES,
  'CFE_KEY_ENCRYPTION_KEYS',
  'CFE_DGI_CFE_HASH',
  'CFE_CREDENTIALS_URL',
  'CFE_DGI_SENDS_PER_SECOND',
  'CFE_DGI_QUESTIONS_PER_SECOND',
  'CFE_SOBRE_MOST',
  'CFE_POLL_LONGEST_SECONDS',
  'CFE_PATIENCE',
  'CFE_REPORT_LATEST',
  'CFE_REPORT_ASK_AFTER',
  ...RATES_VARIABLES,
  'CFE_WEBHOOK_LOCAL_CA_FILE',
  'CFE_CERTIFICATE_CA_FILE',
  'CFE_PUBLIC_URL',
  ...MAIL_VARIABLES,
  'CFE_KEEP_OUTBOX_DAYS',
  'CFE_KEEP_EVENTS_DAYS',
  'CFE_KEEP_ATTEMPTS_DAYS',
  'CFE_KEEP_REPLACED_KEYS_DAYS',
] as const;

interface Parts {
  readonly config: ReturnType<typeof readConfig<(typeof ACTIVITY_VARIABLES)[number]>>;
  readonly orm: Orm;
  readonly clock: () => Date;
  readonly outbox: IssueDeps['outbox'];
  readonly logger: Logger;
  readonly registry: Registry;
  /** Sends a bulk run's support requests to the workflows of CFEs. */
  readonly askSupport: SupportCfeDeps['askSupport'];
  /** Whether a workflow has a run that is not closed. */
  readonly hasRun: (workflowId: string) => Promise<boolean>;
  readonly opener: Opener;
}

/** The authority's client, with its breakers and metrics. */
interface AuthorityParts {
  readonly onCall: ReturnType<typeof measureAuthority>;
  readonly breakers: ReturnType<typeof createBreakers>;
  readonly client: ReturnType<typeof openDgiClient>;
}

/**
 * Creates all activities, by the names of `TASK_QUEUES`, and the gatekeeper, which signs waiting CFEs with the
 * activities' signer.
 */
export function createWorkerActivities(given: Omit<Parts, 'opener'>) {
  const parts: Parts = { ...given, opener: createOpener(given.config.CFE_KEY_ENCRYPTION_KEYS) };
  const { config, orm, outbox } = parts;
  const onCall = measureAuthority(parts.registry);
  const breakers = createBreakers({ orm });
  const authority = {
    onCall,
    breakers,
    client: openDgiClient(config, orm, { onCall, breakers, clock: parts.clock }),
  };
  const gatekeeper = createGatekeeper({
    orm,
    outbox,
    logger: parts.logger,
    sendsPerSecond: config.CFE_DGI_SENDS_PER_SECOND,
    sobreMost: config.CFE_SOBRE_MOST,
    signWaitingCfes: () => signWaitingCfes(verdictParts),
    acceptReportOnlyCfes: () => acceptReportOnlyCfes(verdictParts),
  });
  const verdictParts = createVerdictParts(parts, authority, gatekeeper);
  const gate = createGate({
    orm,
    sendsPerSecond: config.CFE_DGI_SENDS_PER_SECOND,
    questionsPerSecond: config.CFE_DGI_QUESTIONS_PER_SECOND,
    breakers,
  });
  const { prepareReport, ...reportCalls } = reportActivities(parts, authority);
  const activities = {
    cfe: { ...databaseActivities(parts), ...runActivities(parts), ...testRunActivities(parts) },
    dgi: cfeActivities(parts, gate, verdictParts),
    calls: {
      ...otherCalls(parts, authority, gate),
      ...reportCalls,
      askRejected: createAskRejected({
        ...verdictParts,
        questionsPerSecond: config.CFE_DGI_SENDS_PER_SECOND * ASKING_SHARE,
      }),
    },
    reports: { prepareReport },
    webhooks: webhookActivities(parts),
    mail: mailActivities(parts),
    exports: exportActivities(parts),
  };
  return { activities, gatekeeper };
}

/** Creates the activities that use only our database. */
function databaseActivities({
  config,
  orm,
  clock,
  outbox,
  registry,
  hasRun,
}: Parts): Pick<
  Activities,
  'makeReadyWhenComplete' | 'recordExpiries' | 'deleteExpired' | 'startReports' | 'recoverRuns'
> {
  const authorities = readCertificateAuthorities(config);
  return {
    startReports: createStartReports({
      orm,
      clock,
      outbox,
      sendsPerSecond: config.CFE_DGI_SENDS_PER_SECOND,
    }),
    recoverRuns: createRecoverRuns({ orm, clock, outbox, hasRun }),
    makeReadyWhenComplete: createMakeReadyWhenComplete({ orm, clock }),
    recordExpiries: createRecordExpiries({
      orm,
      clock,
      ...(authorities !== 'any' && {
        certificates: { authorities, lookUpRevocation: openRevocationLookUp(config) },
      }),
    }),
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

/** Maximum share of the authority's calls per second for all bulk runs together. */
const RUN_SHARE = 0.5;
/** Share of the daily queries about rejected CFEs, which are not urgent. */
const ASKING_SHARE = 0.1;
/**
 * Maximum queries to the authority per support action (activities/operations/supportCfe.ts); a retry is one query, since
 * the send itself passes the gate.
 */
const QUESTIONS = { retry: 1, settle: 5, abandon: 5 };
/** Redeliveries per second of all runs together: runs share outbox and receivers' slots with ordinary deliveries. */
const REDELIVERIES_PER_SECOND = 20;

/** Creates the activities of bulk runs, which use the same commands as a person. */
function runActivities({
  config,
  askSupport,
  ...parts
}: Parts): Pick<Activities, 'actOnItems' | 'stopItems'> {
  return {
    actOnItems: createActOnItems({
      ...parts,
      act: (run, item) => actOnRunItem({ ...parts, askSupport }, run, item),
      itemsPerSecond: ({ kind }) =>
        kind === 'redeliver'
          ? REDELIVERIES_PER_SECOND
          : (config.CFE_DGI_SENDS_PER_SECOND * RUN_SHARE) / QUESTIONS[kind],
    }),
    stopItems: createStopItems(parts),
  };
}

/** Creates the activities of test runs, which use the same commands as customers. */
function testRunActivities({
  config,
  orm,
  clock,
  outbox,
}: Parts): Pick<Activities, 'issueTestReceipts' | 'reportTestRun' | 'stopTestRun'> {
  const deps = { orm, clock, outbox };
  const pace = paceOf(config);
  return {
    issueTestReceipts: createIssueTestReceipts({
      ...deps,
      issue: (runId, place) => issueTestReceipt({ ...deps, pace }, runId, place),
      annul: (runId, type) => annulTestNumber(deps, runId, type),
    }),
    reportTestRun: createReportTestRun({
      ...deps,
      requestReport: (runId) => requestTestReport(deps, runId),
    }),
    stopTestRun: createStopTestRun(deps),
  };
}

/**
 * Creates signers for documents by stored certificate; each certificate's key stays decrypted for a while.
 */
const createSigners = (opener: Opener, hash: 'sha1' | 'sha256') => {
  const privateKeyOf = createKeyOpener(opener);
  return cacheByCertificate((certificate: Certificate) =>
    createSigner({ privateKey: privateKeyOf(certificate), certificateDer: certificate.certificate, hash }),
  );
};

/** Creates the activities that send daily reports to the authority. */
function reportActivities(
  { config, orm, clock, outbox, opener }: Parts,
  { client, breakers, onCall }: AuthorityParts,
): Pick<Activities, 'prepareReport' | 'submitReport' | 'askReport' | 'supportReport'> {
  const signerOf = createSigners(opener, config.CFE_DGI_CFE_HASH);
  const latest = config.CFE_REPORT_LATEST;
  const asking = {
    orm,
    clock,
    outbox,
    client,
    patienceSeconds: config.CFE_PATIENCE,
    privateKeyOf: cacheByCertificate(createKeyOpener(opener)),
  };
  return {
    prepareReport: createPrepareReport({
      ...asking,
      latest,
      askAfterSeconds: config.CFE_REPORT_ASK_AFTER,
      lookUpRates: openRates(config, orm, { breakers, onCall }),
      signReport: (heading, summary, certificate) =>
        signerOf(certificate).sign(writeReport(heading, summary)).xml,
    }),
    submitReport: createSubmitReport({
      ...asking,
      latest,
      slots: createReportSlots({ orm, sendsPerSecond: config.CFE_DGI_SENDS_PER_SECOND }),
    }),
    askReport: createAskReport(asking),
    supportReport: createSupportReport(asking),
  };
}

/** Creates the parts that sign CFEs and store the authority's verdicts. */
function createVerdictParts(
  { config, orm, clock, outbox, registry, opener }: Parts,
  { client }: AuthorityParts,
  gatekeeper: Pick<Gatekeeper, 'scheduleLook'>,
) {
  const signerOf = createSigners(opener, config.CFE_DGI_CFE_HASH);
  return {
    orm,
    clock,
    outbox,
    gatekeeper,
    authorityRut: authorityRutsOf(config),
    signDocument: (document: CfeDocument, certificate: Certificate) =>
      signerOf(certificate).sign(writeCfe(document)),
    authority: createAuthority({ client, orm, privateKeyOf: cacheByCertificate(createKeyOpener(opener)) }),
    onVerdict: measureVerdicts(registry),
    sandboxMails: config.CFE_MAIL_SANDBOX_ALLOW,
    pollLongestSeconds: config.CFE_POLL_LONGEST_SECONDS,
    patienceSeconds: config.CFE_PATIENCE,
  };
}

/** Creates the activities that send CFEs to the authority. */
function cfeActivities(
  { orm, clock }: Parts,
  gate: Gate,
  deciding: ReturnType<typeof createVerdictParts>,
): Pick<Activities, 'takeToVerdict' | 'supportCfe'> {
  return {
    takeToVerdict: reportBugs({ orm, clock }, createTakeToVerdict({ ...deciding, gate })),
    supportCfe: createSupportCfe(deciding),
  };
}

/** Creates the other activities that call the authority or its login check. */
function otherCalls(
  { config, orm, clock, outbox, opener }: Parts,
  { client, breakers, onCall }: AuthorityParts,
  gate: Gate,
): Pick<Activities, 'checkCaeStart' | 'validateLogin' | 'prepareExchange' | 'loadDirectory'> {
  const directory = { orm, clock, client, privateKeyOf: cacheByCertificate(createKeyOpener(opener)) };
  const checkLogin = measureCalls(
    onCall,
    { environment: 'production', service: 'credentials', operation: 'checkLogin' },
    createCredentialsCheck({
      url: config.CFE_CREDENTIALS_URL,
      timeoutSeconds: config.CFE_DGI_ANSWER_SECONDS,
      breakers,
    }),
    { isHeldBack },
  );
  return {
    checkCaeStart: createCheckCaeStart({ ...directory, gate }),
    validateLogin: createValidateLogin({
      orm,
      clock,
      outbox,
      openLogin: createLoginOpener(opener),
      checkLogin,
    }),
    prepareExchange: createPrepareExchange({
      ...directory,
      outbox,
      messageDomain: new URL(config.CFE_PUBLIC_URL).hostname,
    }),
    loadDirectory: createLoadDirectory(directory),
  };
}

/** Decrypts the e-invoicing logins of enterprises; null without a stored login. */
const createLoginOpener =
  (opener: Opener) =>
  ({ rut, sealedLogin }: { rut: string; sealedLogin: string | null }): Login | null => {
    if (sealedLogin === null) return null;
    const login = opener.open(sealedLogin, { purpose: 'efactura-login', rut, rowId: rut });
    return JSON.parse(login.toString('utf8')) as Login;
  };

/** Creates the activity that calls customers' servers. */
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
      slots: createDeliverySlots(),
      onAttempt: measureWebhooks(registry),
    }),
  };
}

/** Draws receipts, each once for all its addresses at about the same time. */
function createSharedPrinter(): Draw {
  const pdfs = createReceiptPdfs({ draw: drawReceipt });
  return async (cfe, paper, read) => (await pdfs.pdf(cfe, paper, read)).bytes;
}

/**
 * Of the 50 slots of a worker (wiring/temporal/workers.ts) one account can occupy few, whatever its number of
 * enterprises.
 */
const MAIL_SLOTS = { receiver: 3, account: 5 };

/** Creates the activities that call the mail server. */
function mailActivities({ config, orm, clock, registry }: Parts): Pick<Activities, 'attemptMail'> {
  return {
    attemptMail: createAttemptMail({
      orm,
      clock,
      mailer: openMailer(config),
      slots: createDeliverySlots({ limits: MAIL_SLOTS }),
      compose: {
        RECEIPT: composeReceipt({ draw: createSharedPrinter(), publicUrl: config.CFE_PUBLIC_URL }),
        EXCHANGE: composeExchange,
      },
      sandboxMails: config.CFE_MAIL_SANDBOX_ALLOW,
      onAttempt: measureMails(registry),
    }),
  };
}

/** Creates the activities that export a month's receipts. */
function exportActivities({ config, orm, clock }: Parts): Pick<Activities, 'writeExport' | 'stopExport'> {
  const print = printSignedCfe({ draw: drawReceipt, publicUrl: config.CFE_PUBLIC_URL });
  return {
    writeExport: createWriteExport({ orm, clock, print }),
    stopExport: createStopExport({ orm, clock }),
  };
}
