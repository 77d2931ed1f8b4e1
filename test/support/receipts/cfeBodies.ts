import { CFE_TYPES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { day } from './papers.ts';

/** A JSON object that a test changes as it likes before posting it. */
export interface Body {
  [key: string]: unknown;
}

/** What a test may want to be different; the rest is a correct document of one line. */
export interface CfeWishes {
  type?: CfeType;
  emissionDate?: string;
  /** Net of the one line, two decimals at most. */
  net?: number;
  /** The cfe_id that a note corrects. */
  reference?: string;
  references?: Body[];
  currency?: 'UYU' | 'USD' | 'EUR';
  exchangeRate?: number;
  itemName?: string;
  receiver?: Body | null;
  extra?: Body;
}

const COMPANY: Body = {
  receiver_doc_type: 'RUC',
  receiver_document: '219999830019',
  legal_name: 'Almacén del Sur S.R.L.',
  fiscal_address: 'Av. 18 de Julio 1234',
  city: 'Montevideo',
  department: 'Montevideo',
  country: 'Uruguay',
  country_code: 'UY',
};

const FOREIGNER: Body = {
  receiver_doc_type: 'NIFE',
  receiver_document: 'BR-445566',
  legal_name: 'Importadora Porto Alegre Ltda.',
  fiscal_address: 'Rua dos Andradas 100',
  city: 'Porto Alegre',
  department: 'Rio Grande do Sul',
  country: 'Brasil',
  country_code: 'BR',
};

const RECEIVERS = { ticket: null, invoice: COMPANY, export: FOREIGNER } as const;

const cents = (amount: number): number => Math.round(amount * 100) / 100;

/** A correct body for POST …/cfes: one line at the basic rate, or one exported line for the export family. */
export function aCfeBody(wishes: CfeWishes = {}): Body {
  const {
    type = 'ETICKET',
    net = 100,
    currency = 'UYU',
    exchangeRate = 1,
    reference,
    references,
    extra,
  } = wishes;
  const { family } = CFE_TYPES[type];
  const exported = family === 'export';
  const vat = exported ? 0 : cents(net * 0.22);
  const receiver = wishes.receiver === undefined ? RECEIVERS[family] : wishes.receiver;
  return {
    cfe_type: type,
    header: {
      doc_id: { emission_date: wishes.emissionDate ?? day(0), payment_method: 'CASH' },
      ...(receiver ? { receiver } : {}),
      totals: {
        currency,
        exchange_rate: exchangeRate,
        total_amount: cents(net + vat),
        pay_amount: cents(net + vat),
        line_count: 1,
        ...(exported ? {} : { tax_basic_net_amount: net, tax_basic_amount: vat }),
      },
    },
    details: [
      {
        line_number: 1,
        iva_type: exported ? 'EXPORT' : 'BASIC_RATE',
        item_name: wishes.itemName ?? 'Yerba mate 1 kg',
        count: 1,
        unit_price: net,
        item_amount: net,
      },
    ],
    ...(reference ? { reference: { cfe_id: reference } } : {}),
    ...(references ? { references } : {}),
    ...(extra ? { extra: JSON.stringify(extra) } : {}),
  };
}
