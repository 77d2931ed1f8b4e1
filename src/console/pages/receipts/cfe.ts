import * as z from 'zod';
import { resendMail, sendMail } from '../../../commands/mail/mails.ts';
import { supportCfe } from '../../../commands/operations/supportCfe.ts';
import { readLastCall } from '../../../db/authority/attempts.ts';
import { listSobreXmls } from '../../../db/authority/sobres.ts';
import type { Mail } from '../../../db/entities/mail.ts';
import type { Cfe } from '../../../db/entities/receipts.ts';
import type { DailyReport } from '../../../db/entities/reports.ts';
import { findMail, listMailPage } from '../../../db/mail/mails.ts';
import { type CfeDossier, formatRequestingKey, readCfeDossier } from '../../../db/receipts/cfeDossier.ts';
import { findCfeWithRequest, findCfeWithXml } from '../../../db/receipts/cfes.ts';
import { findReport } from '../../../db/reports/dailyReports.ts';
import { type ListedDelivery, listDeliveryPage } from '../../../db/webhooks/deliveryList.ts';
import { ATTEMPT_OPERATIONS, type AttemptSummary } from '../../../domain/authority/attempt.ts';
import { isSandboxAddressAllowed } from '../../../domain/mail/mail.ts';
import { SUPPORT_ACTIONS, type SupportAction } from '../../../domain/operations/supportAction.ts';
import { formatCfeId, parseCfeId } from '../../../domain/receipts/cfeId.ts';
import type { CfeStatus } from '../../../domain/receipts/cfeStatus.ts';
import { CFE_TYPES } from '../../../domain/receipts/cfeTypes.ts';
import { isCreditable } from '../../../domain/receipts/credit/creditNote.ts';
import { PAPER_SIZES, receiptUrl } from '../../../domain/receipts/qr.ts';
import { receiptState } from '../../../domain/receipts/receiptState.ts';
import { montevideoDate } from '../../../domain/values/montevideo.ts';
import { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import { cfeTimeline, type TimelineEntry } from '../../../views/receipts/cfeTimeline.ts';
import { CFE_WORDS, rejectionMeans, rejectionMend } from '../../../words/cfeStates.ts';
import type { Texts } from '../../../words/console.ts';
import { refusalMeans } from '../../../words/refusals.ts';
import { accountsOf, type EnterpriseAccess, findAccessAt } from '../../access/access.ts';
import { enterprisePath, requireRole } from '../../access/enterpriseContext.ts';
import { mayUse, mayUseForAccount } from '../../access/permissions.ts';
import { email, reason, subject } from '../../fields.ts';
import { defineForm } from '../../form.ts';
import { amount, dateOf, figure, timeOf } from '../../format.ts';
import { link, workflowUrl } from '../../links.ts';
import {
  type ConsoleDeps,
  definePage,
  type ParamsOf,
  redirect,
  show,
  signedIn,
  type Visit,
} from '../../page.ts';
import { badge, factList, panel, renderEmpty, table } from '../../parts.ts';
import { mailMark } from '../enterprises/customers.ts';
import { reportMark, reportPath } from '../reports/reports.ts';
import { deliveryMark } from '../webhooks/deliveries.ts';
import { redeliverInRow, redelivery } from '../webhooks/delivery.ts';

const MAX_ROWS = 100;

export type CfeParams = ParamsOf<'GET /cfes/{rut}/{environment}/{cfe_id}'>;

/** Returns the path of a CFE's page. */
export const cfePath = ({ rut, environment, cfe_id }: CfeParams): string =>
  `/cfes/${rut}/${environment}/${cfe_id}`;
/** Returns the parameters of a CFE's page, or of that of another CFE of its enterprise. */
export const paramsOf = (cfe: Cfe, cfeId = formatCfeId(cfe)): CfeParams => ({
  rut: cfe.rut,
  environment: cfe.environment,
  cfe_id: cfeId,
});
/** Returns the path of a CFE's page, or of another CFE of its enterprise. */
const cfePathOf = (cfe: Cfe, cfeId?: string): string => cfePath(paramsOf(cfe, cfeId));

/** Returns the CFE and the viewer's role. Throws NOT_FOUND without a role there, FORBIDDEN if the role is too low. */
export async function findVisibleCfe(
  { orm }: Pick<ConsoleDeps, 'orm'>,
  visit: Visit,
  params: CfeParams,
): Promise<{ cfe: Cfe; access: EnterpriseAccess }> {
  const { rut, environment } = params;
  const parts = parseCfeId(params.cfe_id);
  const access = await findAccessAt(orm, signedIn(visit).viewer, rut);
  const cfe = parts && access && (await findCfeWithRequest(orm.em.fork(), { rut, environment, ...parts }));
  if (!cfe) throw new Refusal('NOT_FOUND', 'There is no such CFE.');
  requireRole(visit, access);
  return { cfe, access };
}

/** Data of the page. */
interface CfePageData {
  readonly cfe: Cfe;
  readonly access: EnterpriseAccess;
  readonly dossier: CfeDossier;
  readonly mails: readonly Mail[];
  /** Deliveries to the viewer's webhooks; for operators, to all webhooks. */
  readonly deliveries: readonly ListedDelivery[];
  readonly report: DailyReport | null;
}

/** GET /cfes/{rut}/{environment}/{cfe_id}: a receipt with its state, next step, possible actions and history. */
export const cfePage = definePage({
  name: 'cfe',
  route: 'GET /cfes/{rut}/{environment}/{cfe_id}',
  async handle({ params, visit }, deps) {
    const { cfe, access } = await findVisibleCfe(deps, visit, params);
    const { rut, environment, id } = cfe;
    const cfeId = formatCfeId(cfe);
    const em = () => deps.orm.em.fork();
    const [dossier, mails, deliveries, report] = await Promise.all([
      readCfeDossier(em(), cfe),
      listMailPage(em(), { cfeUuid: id }, { after: null, limit: MAX_ROWS }),
      listDeliveryPage(
        em(),
        accountsOf(signedIn(visit).viewer),
        { rut, environment, cfeId },
        { after: null, limit: MAX_ROWS },
      ),
      findReport(em(), { rut, environment, date: cfe.document.signedAt.slice(0, 10) }),
    ]);
    const data: CfePageData = {
      cfe,
      access,
      dossier,
      mails: mails.map(({ mail }) => mail),
      deliveries,
      report,
    };
    const body = html`<div class="panels">
      <div>
        ${panel(null, factsOf(visit, data))}
        ${panel(visit.texts.cfe.whatToDo, html`${renderActions(visit, data)}${creditLink(visit, data)}`)}
        ${panel(visit.texts.cfe.mails, mailsOf(visit, data, deps))}
      </div>
      <div>
        ${panel(visit.texts.cfe.timeline, renderTimeline(visit, data))}
        ${panel(visit.texts.cfe.deliveries, deliveriesOf(visit, data))}
        ${panel(null, linksOf(visit, data, deps))}
      </div>
    </div>`;
    const { serie, numero, type } = cfe;
    return show(`${CFE_TYPES[type].label} ${serie}-${numero}`, body, {
      live: ['cfes', 'deliveries', 'authority'],
    });
  },
});

export const TONES: Readonly<Record<CfeStatus, 'good' | 'bad' | 'wait' | 'calm'>> = {
  PENDING: 'wait',
  RECEIVED: 'wait',
  ACCEPTED: 'good',
  OBSERVED: 'good',
  REJECTED: 'bad',
};

const soft = (text: string): Html => html`<span class="soft">${text}</span>`;

function factsOf(visit: Visit, { cfe, dossier }: CfePageData): Html {
  const words = CFE_WORDS[visit.language];
  const { cfe: own, environments } = visit.texts;
  const { receiver, issuer } = cfe.document;
  const status = words.status[cfe.status];
  const means = cfe.reportOnly && cfe.status === 'ACCEPTED' ? words.onlyReported : status.means;
  const { originals, ahead, awaySince, since } = dossier;
  const rows: [string, Html | string][] = [
    [
      own.issuer,
      html`<a href="${enterprisePath(cfe.rut)}">${issuer.legalName}</a>
        ${soft(`${cfe.rut} · ${environments[cfe.environment]}`)}`,
    ],
    [
      'cfe_id',
      html`<code>${formatCfeId(cfe)}</code>
        ${cfe.document.ownCollection === true && badge(own.collection, 'calm')}`,
    ],
    [
      own.receiver,
      [receiver?.legalName, receiver?.document?.number].filter(Boolean).join(' · ') || visit.texts.never,
    ],
    [own.amount, amount(cfe.currency, cfe.payAmount, visit.texts)],
    [own.emitted, dateOf(cfe.emissionDate)],
    [
      own.status,
      html`${badge(status.label, TONES[cfe.status])} <code class="soft">${cfe.status}</code> ${soft(means)}`,
    ],
    [own.since, timeOf(since)],
    ...stuckRows(visit, cfe),
    ...nextStepRows(visit, dossier),
    ...(ahead === null ? [] : [[own.queue, own.ahead(ahead)] as [string, string]]),
    ...(awaySince ? [[own.awaySince, timeOf(awaySince)] as [string, Html]] : []),
    ...originals.map(({ cfeId, status }): [string, Html] => [
      CFE_TYPES[cfe.type].note === null ? own.refersTo : own.corrects,
      html`<a href="${cfePathOf(cfe, cfeId)}">${cfeId}</a> ${words.status[status].label}`,
    ]),
    ...otherReferences(visit, cfe),
    ...(cfe.rejection?.map(({ code, message, detail }): [string, Html] => [
      own.reasons,
      html`<code>${code}</code> «${message}»${detail && ` (${detail})`} ${soft(rejectionMeans(code, words))}`,
    ]) ?? []),
    ...(cfe.externalId === null
      ? []
      : [[own.externalId, html`<code>${cfe.externalId}</code>`] as [string, Html]]),
    ...(cfe.idempotencyKey ? [[own.key, html`<code>${cfe.idempotencyKey}</code>`] as [string, Html]] : []),
    ...(cfe.requestId ? [[own.request, html`<code>${cfe.requestId}</code>`] as [string, Html]] : []),
  ];
  return factList(rows);
}

/** Returns the references of a receipt to CFEs of other systems, and to what is no CFE. */
function otherReferences(
  { texts: { cfe: own } }: Visit,
  { type, document: { references = [] } }: Cfe,
): [string, string][] {
  const label = CFE_TYPES[type].note === null ? own.refersTo : own.corrects;
  return references.flatMap(({ cfe, reason }): [string, string][] => {
    if (cfe?.cfeId !== undefined) return [];
    const named = cfe && own.otherSystem(`${cfe.typeCode} ${cfe.serie}-${cfe.numero}`);
    return [[label, [named, reason].filter(Boolean).join(' · ')]];
  });
}

/** Returns the next step and its time; empty for a CFE that is final. */
function nextStepRows({ language, texts }: Visit, { next, nextAt }: CfeDossier): [string, Html][] {
  if (next === 'ended') return [];
  const { cfe: own } = texts;
  const when =
    nextAt &&
    (next === 'portal'
      ? html`${own.until} ${dateOf(montevideoDate(nextAt))}`
      : html`${own.around} ${timeOf(nextAt)}`);
  const words = CFE_WORDS[language].next[next];
  return [[own.next, html`${words}${when && html` <span class="soft">${when}</span>`}`]];
}

/** Returns the reason why a receipt needs support, and how to fix it. */
function stuckRows(visit: Visit, { rut, stuckReason }: Cfe): [string, Html][] {
  if (!stuckReason) return [];
  const { cfe: own } = visit.texts;
  const { label, means, fix } = CFE_WORDS[visit.language].stuck[stuckReason];
  return [
    [own.stuck, html`${badge(label, 'bad')} <code class="soft">${stuckReason}</code> ${means}`],
    [own.fix, html`${fix} <a href="${enterprisePath(rut)}">${own.goToEnterprise}</a>`],
  ];
}

/** Renders a form for each possible action that the viewer may take, with its effect above the button. */
function renderActions(visit: Visit, { cfe, access, dossier }: CfePageData): Html {
  const { cfe: own } = visit.texts;
  const words = CFE_WORDS[visit.language];
  const advice = rejectionAdvice(visit, cfe);
  if (dossier.actions.length === 0) return advice ?? renderEmpty(own.nothingToDo);
  if (!mayUse(access, cfeSupport.route)) return advice ?? renderEmpty(own.supportActs);
  const one = (action: SupportAction): Html =>
    cfeSupport.draw(visit, paramsOf(cfe), {
      about: words.action[action].means,
      submit: words.action[action].label,
      isQuiet: action === 'abandon',
      values: { action },
    });
  return html`${advice}${dossier.actions.map(one)}`;
}

/** Renders the link to the credit page; nothing for a receipt that cannot be credited. */
function creditLink(visit: Visit, { cfe, access }: CfePageData): Html | false {
  const { credit: words } = visit.texts;
  const may = mayUse(access, 'POST /cfes/{rut}/{environment}/{cfe_id}/credit-notes');
  const [text, kind] = may ? [words.open, 'main'] : [words.read, ''];
  return isCreditable(cfe) && html`<p><a class="${kind}" href="${cfePathOf(cfe)}/credit">${text}</a></p>`;
}

/** Renders what the company does about each code of a rejection; null if the receipt is not rejected. */
function rejectionAdvice({ language }: Visit, { status, rejection }: Cfe): Html | null {
  if (status !== 'REJECTED' || !rejection) return null;
  const words = CFE_WORDS[language];
  return html`<ul class="plain">
    ${rejection.map(
      ({ code }) => html`<li><code>${code}</code> ${rejectionMend(code, words).replaceAll('`', '')}</li>`,
    )}
  </ul>`;
}

function renderTimeline(visit: Visit, data: CfePageData): Html {
  const { cfe, access, dossier } = data;
  const { cfe: own } = visit.texts;
  const { createdAt, settledAt, status, rejection } = cfe;
  // A key is shown to its own account and to operators.
  const visibleAccounts = accountsOf(signedIn(visit).viewer);
  const { askedBy } = dossier;
  const isKnown =
    askedBy !== null && (visibleAccounts === null || visibleAccounts.includes(askedBy.accountId));
  const by = isKnown ? formatRequestingKey(askedBy) : null;
  const history = { ...dossier, by, createdAt, settledAt, status, rejection, reportOnly: cfe.reportOnly };
  const here = cfePathOf(cfe);
  const exchangeLink = ({ operation, answer }: AttemptSummary): Html =>
    html` <a href="${link(`${here}/exchange`, { operation, answer })}">${own.said}</a>`;
  const maySeeExchange = mayUse(access, 'GET /cfes/{rut}/{environment}/{cfe_id}/exchange');
  const maySeeActions = mayUse(access, 'GET /audit');
  const rows = cfeTimeline(history, CFE_WORDS[visit.language])
    // Only operators see the actions of support.
    .filter(({ kind }) => maySeeActions || kind !== 'act')
    .map(({ at, what, more, attempt }: TimelineEntry) => ({
      at,
      shown: html`${what}${more && html` <span class="soft">${more}</span>`}${
        attempt && maySeeExchange && exchangeLink(attempt)
      }`,
    }));
  const all = [...rows, ...notificationEntries(visit, data)].toSorted(
    (a, b) => a.at.getTime() - b.at.getTime(),
  );
  return table(
    own.timeline,
    [own.when, own.what],
    all.map(({ at, shown }) => [timeOf(at), shown]),
  );
}

/** Returns the history entries of the page's settled e-mails and deliveries. */
function notificationEntries(visit: Visit, { mails, deliveries }: CfePageData): { at: Date; shown: Html }[] {
  const { cfe: own } = visit.texts;
  const ended = <T extends { settledAt?: Date | null }>(all: readonly T[], shown: (one: T) => Html) =>
    all.flatMap((one) => (one.settledAt ? [{ at: one.settledAt, shown: shown(one) }] : []));
  return [
    ...ended(mails, ({ destination, status }) => {
      const end = status === 'SENT' ? own.mailArrived : own.mailFailed;
      return html`${end} <span class="url">${destination}</span>`;
    }),
    ...ended(deliveries, ({ id, event, url, status }) => {
      const end = status === 'DELIVERED' ? own.deliveryArrived : own.deliveryFailed;
      return html`${end} <a href="/deliveries/${id}">${event}</a> <span class="soft url">${url}</span>`;
    }),
  ];
}

function mailsOf(
  visit: Visit,
  { cfe, access, mails }: CfePageData,
  { sandboxMails = [] }: Pick<ConsoleDeps, 'sandboxMails'>,
): Html {
  const { cfe: own } = visit.texts;
  const isMailable = cfe.status !== 'REJECTED';
  const maySend = isMailable && mayUse(access, newMail.route);
  const mayRepeat = isMailable && mayUse(access, mailAgain.route);
  const isSandbox = cfe.environment === 'sandbox';
  const isReachable = (address: string): boolean =>
    !isSandbox || isSandboxAddressAllowed(address, sandboxMails);
  const again = ({ id }: Mail): Html => mailAgain.draw(visit, { ...paramsOf(cfe), mail_id: id });
  const rows = mails.map((mail) => [
    timeOf(mail.createdAt),
    html`<span class="url">${mail.destination}</span>`,
    mailMark(visit, mail),
    mayRepeat && isReachable(mail.destination) ? again(mail) : '',
  ]);
  const list =
    rows.length === 0
      ? renderEmpty(own.noMails)
      : table(own.mails, [own.when, own.receiver, own.status, own.act], rows);
  if (!maySend || cfe.status === 'PENDING') return list;
  if (isSandbox && sandboxMails.length === 0) return html`${list}${renderEmpty(own.mailNoSandbox)}`;
  const options = isSandbox ? { destination: sandboxMails.map((one) => [one, one] as const) } : {};
  return html`${list}${newMail.draw(visit, paramsOf(cfe), { options })}`;
}

function deliveriesOf(visit: Visit, { deliveries }: CfePageData): Html {
  const { cfe: own, webhooks: words } = visit.texts;
  if (deliveries.length === 0) return renderEmpty(own.noDeliveries);
  const { viewer } = signedIn(visit);
  const isAgain = (one: ListedDelivery): boolean =>
    !one.isWebhookRemoved && mayUseForAccount(viewer, one.accountId, redelivery.route);
  const rows = deliveries.map((one) => [
    timeOf(one.createdAt),
    html`<a href="/deliveries/${one.id}">${one.event}</a>
      <a class="soft url" href="/webhooks/${one.webhookId}">${one.url}</a>`,
    html`${deliveryMark(visit, one)}${isAgain(one) && redeliverInRow(visit, one.id, own.again)}`,
    figure(one.attempts, visit.texts),
  ]);
  const heads = [own.when, own.event, own.status, words.attempts];
  const about = deliveries.some(isAgain) && html`<p class="soft">${words.redeliverAbout}</p>`;
  return html`${about}${table(own.deliveries, heads, rows, [3])}`;
}

function linksOf(
  visit: Visit,
  { cfe, access, report }: CfePageData,
  { temporalUi, publicUrl }: Pick<ConsoleDeps, 'temporalUi' | 'publicUrl'>,
): Html {
  const { cfe: own } = visit.texts;
  const links = [
    ...receiptLinks(visit, cfe, publicUrl),
    cfe.digest !== null && html`<a href="${cfePathOf(cfe)}/xml">${own.xml}</a>`,
    report
      ? html`<a href="${reportPath(report)}">${own.report} ${dateOf(report.date)}</a>
          ${reportMark(visit, report.status)}`
      : own.noReport,
    mayUse(access, 'GET /audit') &&
      html`<a href="${link('/audit', { rut: cfe.rut, subject: formatCfeId(cfe) })}">${own.audit}</a>`,
    temporalUi &&
      cfe.workflowId !== null &&
      access.kind === 'operator' &&
      html`<a href="${workflowUrl(temporalUi, cfe.workflowId)}" rel="noreferrer">${own.workflow}</a>`,
  ];
  return html`<ul class="plain">
    ${links.filter(Boolean).map((one) => html`<li>${one}</li>`)}
  </ul>`;
}

/** Renders links to the receiver's page and the printed form; none until the receipt may be handed over. */
function receiptLinks(visit: Visit, cfe: Cfe, publicUrl: string): Html[] {
  const { cfe: own } = visit.texts;
  if (receiptState(cfe) !== 'sent' || cfe.digest === null) return [];
  const url = receiptUrl(publicUrl, cfe.receiptToken);
  const papers = PAPER_SIZES.map(
    (paper) => html` <a href="${url}/pdf?paper=${paper}" rel="noreferrer">${paper}</a>`,
  );
  return [html`<a href="${url}" rel="noreferrer">${own.receiptPage}</a>`, html`${own.pdf}:${papers}`];
}

/** GET …/xml: the signed CFE, byte for byte. */
export const cfeXmlPage = definePage({
  name: 'cfe-xml',
  route: 'GET /cfes/{rut}/{environment}/{cfe_id}/xml',
  async handle({ params, visit }, deps) {
    const { cfe } = await findVisibleCfe(deps, visit, params);
    const { rut, environment, type, sequence, serie, numero } = cfe;
    const withXml = await findCfeWithXml(deps.orm.em.fork(), { rut, environment, type, sequence });
    if (!withXml?.signedXml) throw new Refusal('NOT_FOUND', 'It is not signed yet.');
    const name = `${rut}-${CFE_TYPES[type].code}-${serie}-${numero}.xml`;
    return { kind: 'file', name, type: 'application/xml; charset=utf-8', content: withXml.signedXml };
  },
});

/** GET …/exchange: request and response of the last call with this operation and answer. For operators. */
export const cfeExchangePage = definePage({
  name: 'cfe-exchange',
  route: 'GET /cfes/{rut}/{environment}/{cfe_id}/exchange',
  query: z.object({ operation: z.enum(ATTEMPT_OPERATIONS), answer: z.string().max(1_000) }),
  async handle({ params, query, visit }, deps) {
    const { cfe } = await findVisibleCfe(deps, visit, params);
    const { cfe: own } = visit.texts;
    const em = deps.orm.em.fork();
    const exchange = await readLastCall(em, cfe.id, query);
    if (!exchange) throw new Refusal('NOT_FOUND', 'There is no such call.');
    const sobres = query.operation === 'sendSobre' ? await listSobreXmls(em, cfe.id) : [];
    const words = CFE_WORDS[visit.language].operation[query.operation];
    const shown = (content: string | null): Html =>
      content === null ? renderEmpty(own.nothingKept) : html`<pre class="wide" tabindex="0">${content}</pre>`;
    const sent =
      sobres.length > 0
        ? sobres.map(({ idemisor, xml }) => panel(own.sobre(String(idemisor)), shown(xml)))
        : panel(own.sent, shown(exchange.request));
    const cfeLink = html`<a href="${cfePath(params)}">${formatCfeId(cfe)}</a>`;
    const last = html`${exchange.count > 1 && `${own.lastOf(figure(exchange.count, visit.texts))} `}${timeOf(exchange.lastAt)}`;
    const about = html`<p>${cfeLink} · ${words} → <code>${query.answer}</code> · ${last}</p>`;
    return show(own.exchange, html`${about}${sent}${panel(own.answered, shown(exchange.response))}`);
  },
});

/** What the forms of a CFE's page have in common. */
const FORM = {
  back: ({ params }: { params: CfeParams }): string => cfePath(params),
  find: ({ params, visit }: { params: CfeParams; visit: Visit }, deps: ConsoleDeps) =>
    findVisibleCfe(deps, visit, params),
  /** Names the rate limit of e-mails; the usual message would name that of sign-in. */
  refused: ({ cfe: words }: Texts, { code }: Refusal): string | undefined =>
    code === 'RATE_LIMITED' ? words.mailLimit : undefined,
} as const;

export const cfeSupport = defineForm('POST /cfes/{rut}/{environment}/{cfe_id}/support', {
  ...FORM,
  fields: ({ cfe: words }) => ({ action: subject(z.enum(SUPPORT_ACTIONS)), reason: reason(words.reason) }),
  async run({ params, target: { cfe }, form, visit }, deps) {
    const asked = { id: cfe.id, ...form, dryRun: false, requestId: visit.requestId };
    const { outcome, why } = await supportCfe(deps, asked);
    const { outcomes } = visit.texts.cfe;
    const words = Object.hasOwn(outcomes, outcome) ? outcomes[outcome as keyof typeof outcomes] : '';
    const text = why ? `${words} ${refusalMeans(why, visit.language)}` : words;
    return redirect(cfePath(params), { kind: outcome === 'refused' ? 'failed' : 'done', text });
  },
});

export const newMail = defineForm('POST /cfes/{rut}/{environment}/{cfe_id}/mails', {
  ...FORM,
  words: ({ cfe: words }) => ({ about: words.mailMeans, submit: words.mailSend }),
  fields: ({ cfe: words }) => ({ destination: email(words.mailTo) }),
  async run({ target: { cfe, access }, form: { destination }, visit }, deps) {
    const accountId = access.kind === 'member' ? access.accountId : cfe.accountId;
    await sendMail(deps, { accountId, cfeUuid: cfe.id, destination });
    return visit.texts.cfe.mailSent(destination);
  },
});

export const mailAgain = defineForm('POST /cfes/{rut}/{environment}/{cfe_id}/mails/{mail_id}', {
  ...FORM,
  as: 'inline',
  words: ({ cfe: words }) => ({ submit: words.again, isQuiet: true }),
  async run({ params, target: { cfe, access }, visit }, deps) {
    const mail = await findMail(deps.orm.em.fork(), params.mail_id);
    if (mail?.cfeUuid !== cfe.id) throw new Refusal('NOT_FOUND', 'There is no such e-mail.');
    const asking =
      access.kind === 'member'
        ? ({ by: 'member', accountId: access.accountId } as const)
        : ({ by: 'operator' } as const);
    await resendMail(deps, { mailId: mail.id, ...asking });
    return visit.texts.cfe.sentAgain;
  },
});
