import { readApplicationFacts } from '../../../commands/enterprises/homologation.ts';
import {
  type ApplicationSheet,
  applicationSheet,
  STATEMENT_ITEMS,
} from '../../../domain/enterprises/application.ts';
import { montevideoDate } from '../../../domain/values/montevideo.ts';
import { html } from '../../../page/html.ts';
import { APPLICATION_WORDS, FIELD_NAMES } from '../../../words/application.ts';
import { enterprisePath, requireEnterprise } from '../../access/enterpriseContext.ts';
import { type ConsoleDeps, definePage, show } from '../../page.ts';
import { panel, table } from '../../parts.ts';

async function readSheet({ orm, provider, publicUrl }: ConsoleDeps, rut: string): Promise<ApplicationSheet> {
  const facts = await readApplicationFacts(orm.em.fork(), rut);
  return applicationSheet({ ...facts, provider, publicUrl });
}

/** GET /enterprises/{rut}/postulacion: every field of the authority's form, and what backs the sworn statement. */
export const applicationPage = definePage({
  name: 'postulacion',
  route: 'GET /enterprises/{rut}/postulacion',
  async handle({ params: { rut }, visit }, deps) {
    const { enterprise } = await requireEnterprise(visit, deps, rut);
    const words = APPLICATION_WORDS[visit.language];
    const { fields } = await readSheet(deps, rut);
    const rows = fields.map(({ field, value }) => [
      FIELD_NAMES[field],
      value ?? html`<span class="soft">${words.fillIn}</span>`,
      words.notes[field] ?? '',
    ]);
    const items = STATEMENT_ITEMS.map((item, at) => [
      `${at + 1}. ${words.items[item].what}`,
      words.items[item].backed,
    ]);
    const body = html`<p>
        <a href="${enterprisePath(rut)}">${enterprise.legalName}</a> <span class="soft">${rut}</span>
      </p>
      <p class="soft">${words.about}</p>
      <p><a href="${enterprisePath(rut)}/postulacion/pdf" download>${words.download}</a></p>
      ${panel(words.form, table(words.form, [words.field, words.value, words.note], rows))}
      ${panel(
        words.statement,
        html`<p class="soft">${words.statementAbout}</p>
          ${table(words.statement, [words.item, words.backed], items)}`,
      )}`;
    return show(`${words.title} · ${enterprise.tradeName ?? enterprise.legalName}`, body);
  },
});

/** GET …/postulacion/pdf: the same, to print and sign off. */
export const applicationPdf = definePage({
  name: 'postulacion-pdf',
  route: 'GET /enterprises/{rut}/postulacion/pdf',
  async handle({ params: { rut }, visit }, deps) {
    const { enterprise } = await requireEnterprise(visit, deps, rut);
    const date = montevideoDate(deps.businessClock());
    const pdf = await deps.drawSheet(await readSheet(deps, rut), { legalName: enterprise.legalName, date });
    return {
      kind: 'file',
      name: `postulacion-${rut}.pdf`,
      type: 'application/pdf',
      content: Buffer.from(pdf),
    };
  },
});
