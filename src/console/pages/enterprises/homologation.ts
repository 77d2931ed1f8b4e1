import { startTestRun, stopTestRun } from '../../../commands/enterprises/homologation.ts';
import {
  findLastTestRun,
  isDeveloperAccount,
  readTestRunState,
  type TestRunState,
} from '../../../db/enterprises/homologations.ts';
import {
  checklistOf,
  isActiveTestRun,
  TEST_RUN_SIZE,
  TEST_SETS,
  type TestRunStatus,
} from '../../../domain/enterprises/homologation.ts';
import { CFE_TYPES } from '../../../domain/receipts/cfeTypes.ts';
import { type Html, html } from '../../../page/html.ts';
import {
  drawIfAllowed,
  type EnterpriseContext,
  enterprisePath,
  requireEnterprise,
} from '../../access/enterpriseContext.ts';
import { mayUse } from '../../access/permissions.ts';
import { choice, number, operatorsReason } from '../../fields.ts';
import { defineForm } from '../../form.ts';
import { dateOf, figure } from '../../format.ts';
import { type ConsoleDeps, definePage, LocalizedRefusal, show, type Visit } from '../../page.ts';
import { badge, optionsOf, panel, renderEmpty, table } from '../../parts.ts';
import { reportMark, reportPath } from '../reports/reports.ts';

const pathOf = (rut: string): string => `${enterprisePath(rut)}/homologation`;

const TONES = {
  RUNNING: 'wait',
  REPORTING: 'wait',
  READY_TO_PROCESS: 'good',
  FAILED: 'bad',
  STOPPED: 'calm',
} as const satisfies Record<TestRunStatus, string>;

/** GET /enterprises/{rut}/homologation: the last test run and its open steps, with the forms to start and stop one. */
export const homologationPage = definePage({
  name: 'homologation',
  route: 'GET /enterprises/{rut}/homologation',
  async handle({ params: { rut }, visit }, deps) {
    const context = await requireEnterprise(visit, deps, rut);
    const words = visit.texts.homologation;
    const em = deps.orm.em.fork();
    const run = await findLastTestRun(em, rut);
    const state = run && (await readTestRunState(em, run));
    const isActive = run !== null && isActiveTestRun(run.status);
    const form = isActive
      ? drawIfAllowed(testRunStop, { ...context, visit })
      : (await mayStart(deps, context)) &&
        testRunStart.draw(visit, { rut }, { values: { each: String(TEST_RUN_SIZE.usual) } });
    const body = html`<p>
        <a href="${enterprisePath(rut)}">${context.enterprise.legalName}</a> <span class="soft">${rut}</span>
      </p>
      <p class="soft">${words.about}</p>
      ${state ? runPanels(visit, state) : renderEmpty(words.none)} ${form}`;
    const { tradeName, legalName } = context.enterprise;
    return show(`${words.title} · ${tradeName ?? legalName}`, body, {
      live: ['homologation', 'cfes', 'reports'],
    });
  },
});

/** Returns whether the viewer may start a test run; a member's account must be allowed to use the sandbox. */
const mayStart = async ({ orm }: ConsoleDeps, { access }: EnterpriseContext): Promise<boolean> =>
  mayUse(access, 'POST /enterprises/{rut}/homologation') &&
  (access.kind === 'operator' || isDeveloperAccount(orm.em.fork(), access.accountId));

function runPanels(visit: Visit, state: TestRunState): Html {
  const { run, counts, report } = state;
  const words = visit.texts.homologation;
  const { label, means } = words.status[run.status];
  const steps = checklistOf({ set: run.testSet, counts, hasAnnulled: run.annulledAt !== null, report });
  const rows = counts.map(({ type, wanted, received, rejected, pending }) => [
    CFE_TYPES[type].label,
    ...[wanted, received, rejected, pending].map((count) => figure(count, visit.texts)),
  ]);
  const heads = [words.type, words.wanted, words.received, words.rejected, words.pending];
  return html`${panel(
    words.sets[run.testSet],
    html`<p>${badge(label, TONES[run.status])} ${means}</p>
      <p>${words.day}: ${dateOf(run.day)}</p>
      ${
        run.failureCode !== null &&
        html`<p>
          <strong>${words.why}:</strong> ${words.failure[run.failureCode]}.
          <code>${run.failureDetail ?? ''}</code>
        </p>`
      }`,
  )}
  ${panel(words.receipts, table(words.receipts, heads, rows, [1, 2, 3, 4]))}
  ${panel(
    words.report,
    report
      ? html`<p>
          <a href="${reportPath(report)}">${dateOf(report.date)}</a> ${reportMark(visit, report.status)}
        </p>`
      : renderEmpty(words.noReport),
  )}
  ${panel(
    words.left,
    html`<ol>
      ${steps.map(
        ({ code, done }) =>
          html`<li>
            ${badge(done ? words.done : words.open, done ? 'good' : 'wait')} ${words.checklist[code](run.day)}
          </li>`,
      )}
    </ol>`,
  )}`;
}

/** Starts a test run, unless one is active. */
export const testRunStart = defineForm('POST /enterprises/{rut}/homologation', {
  as: 'panel',
  isSlow: true,
  onBusinessClock: true,
  words: ({ homologation: words }) => ({ title: words.start, about: words.startAbout, done: words.started }),
  fields: (texts) => ({
    set: choice(texts.homologation.set, optionsOf(TEST_SETS, texts.homologation.sets)),
    each: number(texts.homologation.each, { minimum: TEST_RUN_SIZE.least, maximum: TEST_RUN_SIZE.most }),
    reason: operatorsReason(texts),
  }),
  find: ({ params: { rut }, visit }, deps) => requireEnterprise(visit, deps, rut),
  back: ({ params: { rut } }) => pathOf(rut),
  async command({ params: { rut }, target, form: { set, each, reason }, visit }, deps) {
    if (!(await mayStart(deps, target)))
      throw new LocalizedRefusal('INVALID_INPUT', visit.texts.homologation.noSandbox);
    const accountId = target.access.kind === 'operator' ? null : target.access.accountId;
    await startTestRun(deps, { rut, set, each: set === 'TESTING' ? each : undefined, accountId, reason });
  },
});

/** Stops the active run. */
export const testRunStop = defineForm('POST /enterprises/{rut}/homologation/stop', {
  as: 'panel',
  onBusinessClock: true,
  words: ({ homologation: words }) => ({
    title: words.stop,
    about: words.stopAbout,
    isQuiet: true,
    done: words.stopped,
  }),
  fields: (texts) => ({ reason: operatorsReason(texts) }),
  find: ({ params: { rut }, visit }, deps) => requireEnterprise(visit, deps, rut),
  back: ({ params: { rut } }) => pathOf(rut),
  command: ({ params: { rut }, form: { reason } }, deps) => stopTestRun(deps, { rut, reason }),
});
