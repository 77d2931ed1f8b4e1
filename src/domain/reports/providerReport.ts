/**
 * The operator's own monthly declaration: which companies began or ended with the service (Formato Informe Proveedores de
 * Software v1.3; docs/authority/provider-report.md).
 */
import * as z from 'zod';

/** The first period that the format takes. */
const FIRST_PERIOD = '202010';

/** A month, `YYYYMM`, from 2020-10 on. */
export const Period = z
  .string()
  .refine((text) => /^\d{4}(0[1-9]|1[0-2])$/.test(text) && text >= FIRST_PERIOD, {
    params: { expected: `a month from ${FIRST_PERIOD} on, such as 202610` },
  });

/** A company that began (`BEGAN`) or ended (`ENDED`) on a day, `YYYY-MM-DD`. */
export interface CustomerChange {
  readonly rut: string;
  readonly kind: 'BEGAN' | 'ENDED';
  readonly date: string;
}

/** The content of the report of one month. */
export interface ProviderReport {
  readonly rut: string;
  /** `YYYYMM`. */
  readonly period: string;
  /** 1 to 99. */
  readonly sequence: number;
  /** Código de producto. */
  readonly product: string;
  /** Whether to declare the product too, which the first report does. */
  readonly declaresProduct: boolean;
  /** At least one. */
  readonly changes: readonly CustomerChange[];
}

/** A time in which a company is a customer; days, `YYYY-MM-DD`. `endedOn`: null while it still is. */
export interface ServiceSpan {
  readonly rut: string;
  readonly beganOn: string;
  readonly endedOn: string | null;
}

/** Returns the month of a day, `YYYYMM`. */
export const periodOf = (date: string): string => date.slice(0, 4) + date.slice(5, 7);

/** Returns the companies that began or ended in a month; a company that did both has two entries. */
export function changesIn(period: string, spans: readonly ServiceSpan[]): CustomerChange[] {
  return spans.flatMap(({ rut, beganOn, endedOn }): CustomerChange[] => [
    ...(periodOf(beganOn) === period ? [{ rut, kind: 'BEGAN', date: beganOn } as const] : []),
    ...(endedOn !== null && periodOf(endedOn) === period
      ? [{ rut, kind: 'ENDED', date: endedOn } as const]
      : []),
  ]);
}

/** The name of the file (Formato Informe Proveedores de Software v1.3, §1). */
export const providerReportFile = (report: Pick<ProviderReport, 'rut' | 'period' | 'sequence'>): string =>
  `Prov_${report.rut}_${report.period}_${String(report.sequence).padStart(2, '0')}.xml`;
