import Big from 'big.js';
import { dayInMontevideo, daysAfter } from '../../clock.ts';
import { EMISSION_DAYS_AHEAD } from '../rules/constants.ts';
import { sumOf } from '../rules/sums.ts';
import { isTicket, PARTS } from './layout.ts';
import { outside, overlap, shown, sizeOf } from './ranges.ts';
import type { AmountRow, ParsedReport, Range, Section } from './reading.ts';

/**
 * What a report says against itself, against the CAEs or against the calendar, in Spanish, for Detalle (R04; Formato
 * Reporte v13.2, zones A and B). `authorized` are the numbers that the authority gave the issuer for a type;
 * null where tests may invent theirs.
 */
export function* faultsOfReport(
  report: ParsedReport,
  { now, authorized }: { now: Date; authorized: (type: string) => readonly Range[] | null },
): Generator<string> {
  const used = report.sections.reduce((sum, section) => sum + section.used, 0);
  if (report.count !== used) yield `A-C7 CantComprobantes: ${report.count} y los tipos suman ${used}`;
  const lastDay = daysAfter(dayInMontevideo(now), EMISSION_DAYS_AHEAD);
  for (const section of report.sections) {
    const faults = [
      ...faultsOfCounts(section),
      ...faultsOfRanges(section, authorized(section.type)),
      ...faultsOfRows(section, lastDay),
    ];
    for (const fault of faults) yield `${section.type}: ${fault}`;
  }
}

function* faultsOfCounts({ type, used, annulled, issued, aboveLimit, rows }: Section): Generator<string> {
  if (issued !== used - annulled) yield `B-C29 CantDocsEmi: ${issued} y son ${used} menos ${annulled}`;
  if (isTicket(type) && (aboveLimit ?? 0) > issued)
    yield `B-C27 CantDocsMay_topeUI: ${aboveLimit} de ${issued} emitidos`;
  if (issued > 0 && rows.length === 0) yield 'Montos: falta';
  if (issued === 0 && rows.length > 0) yield 'Montos: no va, ninguno fue emitido';
}

function* faultsOfRanges(section: Section, authorized: readonly Range[] | null): Generator<string> {
  const { used, annulled, usedRanges, annulledRanges } = section;
  for (const range of [...usedRanges, ...annulledRanges])
    if (range.to < range.from) yield `rango ${shown(range)}: NroHasta es menor que NroDesde`;
  if (sizeOf(usedRanges) !== used) yield `RngDocsUtil: suma ${sizeOf(usedRanges)} y C26 es ${used}`;
  if (sizeOf(annulledRanges) !== annulled)
    yield `RngDocsAnulados: suma ${sizeOf(annulledRanges)} y C28 es ${annulled}`;
  for (const [name, ranges] of [
    ['RngDocsUtil', usedRanges],
    ['RngDocsAnulados', annulledRanges],
  ] as const) {
    const both = overlap(ranges);
    if (both) yield `${name}: ${shown(both[0])} y ${shown(both[1])} se superponen`;
  }
  for (const range of outside(annulledRanges, usedRanges))
    yield `RngDocsAnulados: ${shown(range)} no figura entre los utilizados`;
  for (const range of authorized ? outside(usedRanges, authorized) : [])
    yield `RngDocsUtil: ${shown(range)} no está en un CAE`;
}

function* faultsOfRows({ type, rows }: Section, lastDay: string): Generator<string> {
  const seen = new Set<string>();
  for (const row of rows) {
    if (seen.has(row.key)) yield `Montos ${row.key}: repetido`;
    seen.add(row.key);
    if (row.date > lastDay) yield `C10 Fecha: ${row.date} es posterior a ${lastDay}`;
    const parts =
      type > '120' ? [row.amount('TotMntExpyAsim')] : PARTS.map(({ element }) => row.amount(element));
    const total = row.amount('TotMntTotal');
    if (!total.eq(sumOf(parts)))
      yield `C24 TotMntTotal ${row.key}: ${total.toFixed(2)} y la suma es ${sumOf(parts).toFixed(2)}`;
    yield* faultsOfVat(row);
  }
}

/**
 * The rates, and that base and VAT of other rates come together. VAT against its base is left to the comparison: how far
 * it may lie from it in sums of rounded and converted figures, no document says.
 */
function* faultsOfVat(row: AmountRow): Generator<string> {
  for (const [element, percent] of [
    ['IVATasaMin', 10],
    ['IVATasaBas', 22],
  ] as const)
    if (row.has(element) && !row.amount(element).eq(percent))
      yield `${element} ${row.key}: debe ser ${percent}`;
  const zero = new Big(0);
  if (row.amount('TotMntIVAOtra').gt(zero) !== row.amount('MntIVAOtra').gt(zero))
    yield `C21 MntIVAOtra ${row.key}: mayor que cero si y solo si C18 lo es`;
}
