import { z } from 'zod';
import { compareDue } from '../judge/report/compareDue.ts';
import { listReports, orderReportFault, REPORT_FAULTS } from '../state/reports.ts';
import { day, environment, read, rut } from './input.ts';
import type { PortalRoute } from './route.ts';

const Query = z.strictObject({ environment, rut: rut.optional(), date: day.optional() });

/** The daily reports that were received or refused, in order of arrival, with what was found against them. */
export const reports: PortalRoute = {
  method: 'GET',
  path: '/portal/reports',
  handle({ query }, { state, clock }) {
    const filter = read(Query, query, '/query');
    const whose = { environment: filter.environment, rut: filter.rut ?? null };
    compareDue(state, whose, clock());
    const found = listReports(state, {
      ...whose,
      date: filter.date ?? null,
      sequence: null,
      idEmisor: null,
    });
    const items = found.map((report) => ({
      environment: report.environment,
      rut: report.rut,
      date: report.date,
      sequence: report.sequence,
      id_emisor: report.id_emisor,
      status: report.state,
      reasons: report.reasons,
      received_at: report.received_at,
      sha256: report.sha256,
    }));
    return { status: 200, json: { items } };
  },
};

const Order = z.strictObject({ environment, kind: z.enum(REPORT_FAULTS), times: z.int().min(0).max(1_000) });

/** Orders what happens to the next reports of a company: no answer, a SOAP fault, a comparison that differs. */
export const putReportFaults: PortalRoute = {
  method: 'PUT',
  path: '/portal/report-faults/{rut}',
  handle({ path, body }, { state }) {
    const number = read(rut, path['rut'], '/path/rut');
    const { environment: name, kind, times } = read(Order, body);
    orderReportFault(state, { environment: name, rut: number }, kind, times);
    return { status: 200, json: { rut: number, environment: name, kind, times } };
  },
};
