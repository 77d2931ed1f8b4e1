/**
 * The daily report once more, by a way of its own: from the XML of the receipts as the authority gets it, in whole numbers,
 * with every number looked at by itself. It shares no code with the report under test.
 */
import { decimalText, halfUpRatio } from '../receipts/arithmetic.ts';

/** The texts that a report, or this computation of one, gives for one type. */
export interface PlainType {
  code: string;
  counts: Record<string, string>;
  used: string[];
  annulled: string[];
  rows: Record<string, string>[];
}

export interface PlainDay {
  /** Unsigned XML of the receipts that count as issued. */
  issued: readonly string[];
  /** Numbers annulled, as `101 A 7`. */
  annulled: readonly string[];
  signedOn: string;
  /** Pesos of one unit at the close of a day, as text. */
  quotations: ReadonlyMap<string, string>;
  /** Pesos of one UI by year. */
  uiOf: (year: string) => string;
}

const text = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

const PLACES = 8;
/** Decimal text in units of 10^-places. */
const units = (decimal: string, places: number): bigint => {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
};
const dayBefore = (date: string): string =>
  new Date(Date.parse(`${date}T12:00:00Z`) - 86_400_000).toISOString().slice(0, 10);

/** Element of a CFE → field of the report. */
const LOCAL: Record<string, string> = {
  MntNoGrv: 'TotMntNoGrv',
  MntExpoyAsim: 'TotMntExpyAsim',
  MntImpuestoPerc: 'TotMntImpPerc',
  MntIVaenSusp: 'TotMntIVAenSusp',
  MntNetoIvaTasaMin: 'TotMntIVATasaMin',
  MntNetoIVATasaBasica: 'TotMntIVATasaBas',
  MntNetoIVAOtra: 'TotMntIVAOtra',
  MntIVAOtra: 'MntIVAOtra',
  MntIVATasaMin: 'MntIVATasaMin',
  MntIVATasaBasica: 'MntIVATasaBas',
};
const ABROAD = { MntExpoyAsim: 'TotMntExpyAsim' };
const ZEROS = ['TotMntRetenido'];

/** In units of 10^-PLACES. */
function rateOf(xml: string, day: PlainDay): bigint {
  const currency = text(xml, 'TpoMoneda') ?? '';
  if (currency === 'UYU') return units('1', PLACES);
  const own = units(text(xml, 'TpoCambio') ?? '', PLACES);
  const emitted = text(xml, 'FchEmis') ?? '';
  const isNote = /[23]$/.test(text(xml, 'TipoCFE') ?? '');
  if (isNote || emitted > day.signedOn || ['UYI', 'UYR'].includes(currency)) return own;
  const quotation = day.quotations.get(`${currency} ${dayBefore(emitted)}`);
  return quotation === undefined ? own : units(quotation, PLACES);
}

function isAboveLimit(xml: string, day: PlainDay): boolean {
  const cents = (name: string) => units(text(xml, name) ?? '0', 2);
  const own = units(text(xml, 'TpoCambio') ?? '1', 3);
  const net = Object.keys(LOCAL)
    .filter((name) => !name.startsWith('MntIVA'))
    .reduce((sum, name) => sum + cents(name), 0n);
  return net * own * 10n ** 3n > 5000n * units(day.uiOf((text(xml, 'FchEmis') ?? '').slice(0, 4)), 8);
}

/** What must stand in the report, types in the order of their codes. */
export function plainReport(day: PlainDay): PlainType[] {
  const codeOf = (xml: string) => text(xml, 'TipoCFE') ?? '';
  const codes = new Set([
    ...day.issued.map(codeOf),
    ...day.annulled.map((number) => number.split(' ')[0] ?? ''),
  ]);
  return [...codes].toSorted().map((code) => {
    const issued = day.issued.filter((xml) => codeOf(xml) === code);
    const annulled = day.annulled.filter((number) => number.startsWith(`${code} `)).map((n) => n.slice(4));
    const used = [...issued.map((xml) => `${text(xml, 'Serie')} ${text(xml, 'Nro')}`), ...annulled];
    const isTicket = code.startsWith('10');
    return {
      code,
      counts: {
        CantDocsUtil: `${used.length}`,
        ...(isTicket
          ? { CantDocsMay_topeUI: `${issued.filter((xml) => isAboveLimit(xml, day)).length}` }
          : {}),
        CantDocsAnulados: `${annulled.length}`,
        CantDocsEmi: `${issued.length}`,
      },
      used: runsOf(used),
      annulled: runsOf(annulled),
      rows: rowsOf(issued, day, code.startsWith('12') ? ABROAD : LOCAL),
    };
  });
}

/** `A 1-3`: numbers that follow one another. */
function runsOf(numbers: readonly string[]): string[] {
  const series = [...new Set(numbers.map((number) => number.split(' ')[0] ?? ''))].toSorted();
  return series.flatMap((serie) => {
    const taken = new Set(
      numbers.filter((n) => n.startsWith(`${serie} `)).map((n) => Number(n.split(' ')[1])),
    );
    const starts = [...taken].filter((n) => !taken.has(n - 1)).toSorted((a, b) => a - b);
    return starts.map((start) => {
      let end = start;
      while (taken.has(end + 1)) end += 1;
      return `${serie} ${start}-${end}`;
    });
  });
}

function rowsOf(
  issued: readonly string[],
  day: PlainDay,
  names: Record<string, string>,
): Record<string, string>[] {
  const keyOf = (xml: string) =>
    `${text(xml, 'FchEmis')} ${(text(xml, 'CdgDGISucur') ?? '').padStart(4, '0')} ${text(xml, 'IndPagCta3ros') ?? ''}`;
  const keys = [...new Set(issued.map(keyOf))].toSorted();
  return keys.map((key) => {
    const [date = '', branch = '', thirdParty] = key.split(' ');
    const row: Record<string, string> = { Fecha: date, CodSuc: `${Number(branch)}` };
    if (thirdParty) row['IndPagCta3ros'] = thirdParty;
    let total = 0n;
    for (const [element, field] of Object.entries(names)) {
      const exact = issued
        .filter((xml) => keyOf(xml) === key)
        .reduce((sum, xml) => sum + units(text(xml, element) ?? '0', 2) * rateOf(xml, day), 0n);
      const cents = halfUpRatio(exact, 10n ** BigInt(PLACES));
      row[field] = decimalText(cents, 2);
      total += cents;
    }
    row['TotMntTotal'] = decimalText(total, 2);
    if (names === ABROAD) return row;
    for (const zero of ZEROS) row[zero] = '0.00';
    return { ...row, IVATasaMin: '10.000', IVATasaBas: '22.000' };
  });
}

/** The same texts, read out of a report. */
export function readReport(xml: string): PlainType[] {
  return [...xml.matchAll(/<(Rsmn_\w+)>(.*?)<\/\1>/gs)].map(([, , inner = '']) => {
    const leaves = (of: string) =>
      [...of.matchAll(/<(\w+)>([^<]*)<\/\1>/g)].map(([, name = '', value = '']) => [name, value]);
    const ranges = (item: string) =>
      [...inner.matchAll(new RegExp(`<${item}>(.*?)</${item}>`, 'gs'))].map(
        ([, range = '']) => `${text(range, 'Serie')} ${text(range, 'NroDesde')}-${text(range, 'NroHasta')}`,
      );
    return {
      code: text(inner, 'TipoComp') ?? '',
      counts: Object.fromEntries(leaves(inner).filter(([name = '']) => name.startsWith('Cant'))) as Record<
        string,
        string
      >,
      used: ranges('RDU_Item'),
      annulled: ranges('RDA_Item'),
      rows: [...inner.matchAll(/<(Mnts_\w+_Item)>(.*?)<\/\1>/gs)].map(
        ([, , row = '']) => Object.fromEntries(leaves(row)) as Record<string, string>,
      ),
    };
  });
}
