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
import { CFE_WORDS, rejectionMeans, rejectionRemedy } from '../../../words/cfeStates.ts';
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

/** Limit of shown e-mails, and of shown deliveries. */
const MAX_ROWS = 100;

export type CfeParams = ParamsOf<'GET /cfes/{rut}/{environment}/{cfe_id}'>;

/** Returns the path of a CFE's page. */
export const cfePath = ({ rut, environment, cfe_id }: CfeParams): string =>
  `/cfes/${rut}/${environment}/${cfe_id}`;
/** Returns the page parameters of a CFE; with `cfeId`, of another CFE of the same enterprise. */
export const paramsOf = (cfe: Cfe, cfeId = formatCfeId(cfe)): CfeParams => ({
  rut: cfe.rut,
  environment: cfe.environment,
  cfe_id: cfeId,
});
/** Returns the path of a CFE's page; with `cfeId`, of another CFE of the same enterprise. */
export const cfePathOf = (cfe: Cfe, cfeId?: string): string => cfePath(paramsOf(cfe, cfeId));

/** Returns the CFE and the viewer's role. Throws NOT_FOUND without a role at its enterprise, FORBIDDEN if it is too low. */
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
  const { cfe: labels, environments } = visit.texts;
  const { receiver, issuer } = cfe.document;
  const status = words.status[cfe.status];
  const means = cfe.reportOnly && cfe.status === 'ACCEPTED' ? words.onlyReported : status.means;
  const { originals, ahead, awaySince, since } = dossier;
  const rows: [string, Html | string][] = [
    [
      labels.issuer,
      html`<a href="${enterprisePath(cfe.rut)}">${issuer.legalName}</a>
        ${soft(`${cfe.rut} · ${environments[cfe.environment]}`)}`,
    ],
    [
      'cfe_id',
      html`<code>${formatCfeId(cfe)}</code>
        ${cfe.document.ownCollection === true && badge(labels.collection, 'calm')}`,
    ],
    [
      labels.receiver,
      [receiver?.legalName, receiver?.document?.number].filter(Boolean).join(' · ') || visit.texts.never,
    ],
    [labels.amount, amount(cfe.currency, cfe.payAmount, visit.texts)],
    [labels.emitted, dateOf(cfe.emissionDate)],
    [
      labels.status,
      html`${badge(status.label, TONES[cfe.status])} <code class="soft">${cfe.status}</code> ${soft(means)}`,
    ],
    [labels.since, timeOf(since)],
    ...stuckRows(visit, cfe),
    ...nextStepRows(visit, dossier),
    ...(ahead === null ? [] : [[labels.queue, labels.ahead(ahead)] as [string, string]]),
    ...(awaySince ? [[labels.awaySince, timeOf(awaySince)] as [string, Html]] : []),
    ...originals.map(({ cfeId, status }): [string, Html] => [
      CFE_TYPES[cfe.type].note === null ? labels.refersTo : labels.corrects,
      html`<a href="${cfePathOf(cfe, cfeId)}">${cfeId}</a> ${words.status[status].label}`,
    ]),
    ...otherReferences(visit, cfe),
    ...(cfe.rejection?.map(({ code, message, detail }): [string, Html] => [
      labels.reasons,
      html`<code>${code}</code> «${message}»${detail && ` (${detail})`} ${soft(rejectionMeans(code, words))}`,
    ]) ?? []),
    ...(cfe.externalId === null
      ? []
      : [[labels.externalId, html`<code>${cfe.externalId}</code>`] as [string, Html]]),
    ...(cfe.idempotencyKey ? [[labels.key, html`<code>${cfe.idempotencyKey}</code>`] as [string, Html]] : []),
    ...(cfe.requestId ? [[labels.request, html`<code>${cfe.requestId}</code>`] as [string, Html]] : []),
  ];
  return factList(rows);
}

/** Returns the references of a receipt to CFEs of other systems, and those without a CFE. */
function otherReferences(
  { texts: { cfe: labels } }: Visit,
  { type, document: { references = [] } }: Cfe,
): [string, string][] {
  const label = CFE_TYPES[type].note === null ? labels.refersTo : labels.corrects;
  return references.flatMap(({ cfe, reason }): [string, string][] => {
    if (cfe?.cfeId !== undefined) return [];
    const receipt = cfe && labels.otherSystem(`${cfe.typeCode} ${cfe.serie}-${cfe.numero}`);
    return [[label, [receipt, reason].filter(Boolean).join(' · ')]];
  });
}

/** Returns the next step and its time; empty for a CFE that is final. */
function nextStepRows({ language, texts }: Visit, { next, nextAt }: CfeDossier): [string, Html][] {
  if (next === 'ended') return [];
  const { cfe: labels } = texts;
  const when =
    nextAt &&
    (next === 'portal'
      ? html`${labels.until} ${dateOf(montevideoDate(nextAt))}`
      : html`${labels.around} ${timeOf(nextAt)}`);
  const words = CFE_WORDS[language].next[next];
  return [[labels.next, html`${words}${when && html` <span class="soft">${when}</span>`}`]];
}

/** Returns the reason why a receipt needs support, and how to fix it. */
function stuckRows(visit: Visit, { rut, stuckReason }: Cfe): [string, Html][] {
  if (!stuckReason) return [];
  const { cfe: labels } = visit.texts;
  const { label, means, fix } = CFE_WORDS[visit.language].stuck[stuckReason];
  return [
    [labels.stuck, html`${badge(label, 'bad')} <code class="soft">${stuckReason}</code> ${means}`],
    [labels.fix, html`${fix} <a href="${enterprisePath(rut)}">${labels.goToEnterprise}</a>`],
  ];
}

/** Renders a form for each possible action, which explains its effect, if the viewer may take it. */
function renderActions(visit: Visit, { cfe, access, dossier }: CfePageData): Html {
  const { cfe: labels } = visit.texts;
  const words = CFE_WORDS[visit.language];
  const advice = rejectionAdvice(visit, cfe);
  if (dossier.actions.length === 0) return advice ?? renderEmpty(labels.nothingToDo);
  if (!mayUse(access, cfeSupport.route)) return advice ?? renderEmpty(labels.supportActs);
  const renderAction = (action: SupportAction): Html =>
    cfeSupport.draw(visit, paramsOf(cfe), {
      about: words.action[action].means,
      submit: words.action[action].label,
      isQuiet: action === 'abandon',
      values: { action },
    });
  return html`${advice}${dossier.actions.map(renderAction)}`;
}

/** Renders the link to the credit page; nothing for a receipt that cannot be credited. */
function creditLink(visit: Visit, { cfe, access }: CfePageData): Html | false {
  const { credit: words } = visit.texts;
  const mayCredit = mayUse(access, 'POST /cfes/{rut}/{environment}/{cfe_id}/credit-notes');
  const [text, kind] = mayCredit ? [words.open, 'main'] : [words.read, ''];
  return isCreditable(cfe) && html`<p><a class="${kind}" href="${cfePathOf(cfe)}/credit">${text}</a></p>`;
}

/** Renders what the company should do about each code of a rejection; null if the receipt is not rejected. */
function rejectionAdvice({ language }: Visit, { status, rejection }: Cfe): Html | null {
  if (status !== 'REJECTED' || !rejection) return null;
  const words = CFE_WORDS[language];
  return html`<ul class="plain">
    ${rejection.map(
      ({ code }) => html`<li><code>${code}</code> ${rejectionRemedy(code, words).replaceAll('`', '')}</li>`,
    )}
  </ul>`;
}

function renderTimeline(visit: Visit, data: CfePageData): Html {
  const { cfe, access, dossier } = data;
  const { cfe: labels } = visit.texts;
  const { createdAt, settledAt, status, rejection } = cfe;
  // Only operators and the key's own account see the key.
  const visibleAccounts = accountsOf(signedIn(visit).viewer);
  const { askedBy } = dossier;
  const maySeeKey =
    askedBy !== null && (visibleAccounts === null || visibleAccounts.includes(askedBy.accountId));
  const by = maySeeKey ? formatRequestingKey(askedBy) : null;
  const history = { ...dossier, by, createdAt, settledAt, status, rejection, reportOnly: cfe.reportOnly };
  const exchangeLink = ({ operation, answer }: AttemptSummary): Html =>
    html` <a href="${link(`${cfePathOf(cfe)}/exchange`, { operation, answer })}">${labels.said}</a>`;
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
    labels.timeline,
    [labels.when, labels.what],
    all.map(({ at, shown }) => [timeOf(at), shown]),
  );
}

/** Returns the history entries of the page's settled e-mails and deliveries. */
function notificationEntries(visit: Visit, { mails, deliveries }: CfePageData): { at: Date; shown: Html }[] {
  const { cfe: labels } = visit.texts;
  const ended = <T extends { settledAt?: Date | null }>(all: readonly T[], shown: (one: T) => Html) =>
    all.flatMap((one) => (one.settledAt ? [{ at: one.settledAt, shown: shown(one) }] : []));
  return [
    ...ended(mails, ({ destination, status }) => {
      const end = status === 'SENT' ? labels.mailArrived : labels.mailFailed;
      return html`${end} <span class="url">${destination}</span>`;
    }),
    ...ended(deliveries, ({ id, event, url, status }) => {
      const end = status === 'DELIVERED' ? labels.deliveryArrived : labels.deliveryFailed;
      return html`${end} <a href="/deliveries/${id}">${event}</a> <span class="soft url">${url}</span>`;
    }),
  ];
}

function mailsOf(
  visit: Visit,
  { cfe, access, mails }: CfePageData,
  { sandboxMails = [] }: Pick<ConsoleDeps, 'sandboxMails'>,
): Html {
  const { cfe: labels } = visit.texts;
  const isMailable = cfe.status !== 'REJECTED';
  const maySend = isMailable && mayUse(access, newMail.route);
  const mayRepeat = isMailable && mayUse(access, mailAgain.route);
  const isSandbox = cfe.environment === 'sandbox';
  const isReachable = (address: string): boolean =>
    !isSandbox || isSandboxAddressAllowed(address, sandboxMails);
  const resendForm = ({ id }: Mail): Html => mailAgain.draw(visit, { ...paramsOf(cfe), mail_id: id });
  const rows = mails.map((mail) => [
    timeOf(mail.createdAt),
    html`<span class="url">${mail.destination}</span>`,
    mailMark(visit, mail),
    mayRepeat && isReachable(mail.destination) ? resendForm(mail) : '',
  ]);
  const list =
    rows.length === 0
      ? renderEmpty(labels.noMails)
      : table(labels.mails, [labels.when, labels.receiver, labels.status, labels.act], rows);
  if (!maySend || cfe.status === 'PENDING') return list;
  if (isSandbox && sandboxMails.length === 0) return html`${list}${renderEmpty(labels.mailNoSandbox)}`;
  const options = isSandbox ? { destination: sandboxMails.map((one) => [one, one] as const) } : {};
  return html`${list}${newMail.draw(visit, paramsOf(cfe), { options })}`;
}

function deliveriesOf(visit: Visit, { deliveries }: CfePageData): Html {
  const { cfe: labels, webhooks: words } = visit.texts;
  if (deliveries.length === 0) return renderEmpty(labels.noDeliveries);
  const { viewer } = signedIn(visit);
  const mayResend = ({ isWebhookRemoved, accountId }: ListedDelivery): boolean =>
    !isWebhookRemoved && mayUseForAccount(viewer, accountId, redelivery.route);
  const rows = deliveries.map((delivery) => [
    timeOf(delivery.createdAt),
    html`<a href="/deliveries/${delivery.id}">${delivery.event}</a>
      <a class="soft url" href="/webhooks/${delivery.webhookId}">${delivery.url}</a>`,
    html`${deliveryMark(visit, delivery)}${mayResend(delivery) && redeliverInRow(visit, delivery.id, labels.again)}`,
    figure(delivery.attempts, visit.texts),
  ]);
  const heads = [labels.when, labels.event, labels.status, words.attempts];
  const about = deliveries.some(mayResend) && html`<p class="soft">${words.redeliverAbout}</p>`;
  return html`${about}${table(labels.deliveries, heads, rows, [3])}`;
}

function linksOf(
  visit: Visit,
  { cfe, access, report }: CfePageData,
  { temporalUi, publicUrl }: Pick<ConsoleDeps, 'temporalUi' | 'publicUrl'>,
): Html {
  const { cfe: labels } = visit.texts;
  const links = [
    ...receiptLinks(visit, cfe, publicUrl),
    cfe.digest !== null && html`<a href="${cfePathOf(cfe)}/xml">${labels.xml}</a>`,
    report
      ? html`<a href="${reportPath(report)}">${labels.report} ${dateOf(report.date)}</a>
          ${reportMark(visit, report.status)}`
      : labels.noReport,
    mayUse(access, 'GET /audit') &&
      html`<a href="${link('/audit', { rut: cfe.rut, subject: formatCfeId(cfe) })}">${labels.audit}</a>`,
    temporalUi &&
      cfe.workflowId !== null &&
      access.kind === 'operator' &&
      html`<a href="${workflowUrl(temporalUi, cfe.workflowId)}" rel="noreferrer">${labels.workflow}</a>`,
  ];
  return html`<ul class="plain">
    ${links.filter(Boolean).map((one) => html`<li>${one}</li>`)}
  </ul>`;
}

/** Renders links to the receiver's page and the printed form, once the receipt may be handed over. */
function receiptLinks(visit: Visit, cfe: Cfe, publicUrl: string): Html[] {
  const { cfe: labels } = visit.texts;
  if (receiptState(cfe) !== 'sent' || cfe.digest === null) return [];
  const url = receiptUrl(publicUrl, cfe.receiptToken);
  const pdfs = PAPER_SIZES.map(
    (size) => html` <a href="${url}/pdf?paper=${size}" rel="noreferrer">${size}</a>`,
  );
  return [html`<a href="${url}" rel="noreferrer">${labels.receiptPage}</a>`, html`${labels.pdf}:${pdfs}`];
}

/** GET …/xml: the signed CFE, byte for byte. */
export const cfeXmlPage = definePage({
  name: 'cfe-xml',
  route: 'GET /cfes/{rut}/{environment}/{cfe_id}/xml',
  async handle({ params, visit }, deps) {
    const { cfe } = await findVisibleCfe(deps, visit, params);
    const { rut, environment, type, sequence, serie, numero } = cfe;
    const withXml = await findCfeWithXml(deps.orm.em.fork(), { rut, environment, type, sequence });
    if (!withXml?.signedXml) throw new Refusal('NOT_FOUND', 'The CFE is not signed yet.');
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
    const { cfe: labels } = visit.texts;
    const em = deps.orm.em.fork();
    const exchange = await readLastCall(em, cfe.id, query);
    if (!exchange) throw new Refusal('NOT_FOUND', 'There is no such call.');
    const sobres = query.operation === 'sendSobre' ? await listSobreXmls(em, cfe.id) : [];
    const words = CFE_WORDS[visit.language].operation[query.operation];
    const renderMessage = (content: string | null): Html =>
      content === null
        ? renderEmpty(labels.nothingKept)
        : html`<pre class="wide" tabindex="0">${content}</pre>`;
    const sent =
      sobres.length > 0
        ? sobres.map(({ idemisor, xml }) => panel(labels.sobre(String(idemisor)), renderMessage(xml)))
        : panel(labels.sent, renderMessage(exchange.request));
    const cfeLink = html`<a href="${cfePath(params)}">${formatCfeId(cfe)}</a>`;
    const last = html`${exchange.count > 1 && `${labels.lastOf(figure(exchange.count, visit.texts))} `}${timeOf(exchange.lastAt)}`;
    const about = html`<p>${cfeLink} · ${words} → <code>${query.answer}</code> · ${last}</p>`;
    return show(
      labels.exchange,
      html`${about}${sent}${panel(labels.answered, renderMessage(exchange.response))}`,
    );
  },
});

const FORM = {
  back: ({ params }: { params: CfeParams }): string => cfePath(params),
  find: ({ params, visit }: { params: CfeParams; visit: Visit }, deps: ConsoleDeps) =>
    findVisibleCfe(deps, visit, params),
  /** Describes the rate limit of e-mails; the usual message describes the one of sign-in. */
  refused: ({ cfe: words }: Texts, { code }: Refusal): string | undefined =>
    code === 'RATE_LIMITED' ? words.mailLimit : undefined,
} as const;

export const cfeSupport = defineForm('POST /cfes/{rut}/{environment}/{cfe_id}/support', {
  ...FORM,
  fields: ({ cfe: words }) => ({ action: subject(z.enum(SUPPORT_ACTIONS)), reason: reason(words.reason) }),
  async run({ params, target: { cfe }, form, visit }, deps) {
    const request = { id: cfe.id, ...form, dryRun: false, requestId: visit.requestId };
    const { outcome, why } = await supportCfe(deps, request);
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
    const sender =
      access.kind === 'member'
        ? ({ by: 'member', accountId: access.accountId } as const)
        : ({ by: 'operator' } as const);
    await resendMail(deps, { mailId: mail.id, ...sender });
    return visit.texts.cfe.sentAgain;
  },
});
