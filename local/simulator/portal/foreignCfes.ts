import { z } from 'zod';
import { keepForeignCfe } from '../state/receipts.ts';
import { cfeTypeCode, day, environment, fiscalNumber, read, rut, serie } from './input.ts';
import type { PortalRoute } from './route.ts';

const decimal = (places: number) =>
  z
    .union([z.string(), z.number().transform(String)])
    .refine(
      (text) => new RegExp(`^\\d{1,15}(\\.\\d{1,${places}})?$`).test(text),
      `must be a number with at most ${places} decimals`,
    );

const ForeignCfe = z
  .strictObject({
    environment,
    rut,
    cfe_type_code: cfeTypeCode,
    serie,
    numero: fiscalNumber,
    emission_date: day,
    amount: decimal(2).optional(),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be three capital letters')
      .optional(),
    exchange_rate: decimal(3).optional(),
  })
  .refine(({ amount, currency }) => (amount === undefined) === (currency === undefined), {
    path: ['currency'],
    message: 'amount and currency are given together',
  })
  .refine(
    ({ currency, exchange_rate }) =>
      (exchange_rate !== undefined) === (currency !== undefined && currency !== 'UYU'),
    { path: ['exchange_rate'], message: 'is required with a currency other than UYU, and only then' },
  );

/** Adds an accepted CFE of the company's other system, for others to refer to. */
export const putForeignCfe: PortalRoute = {
  method: 'POST',
  path: '/portal/foreign-cfes',
  handle({ body }, { state }) {
    const cfe = read(ForeignCfe, body);
    keepForeignCfe(
      state,
      {
        environment: cfe.environment,
        rut: cfe.rut,
        cfeType: cfe.cfe_type_code,
        serie: cfe.serie,
        number: cfe.numero,
      },
      {
        issuedOn: cfe.emission_date,
        amountPayable: cfe.amount ?? null,
        currency: cfe.currency ?? null,
        exchangeRate: cfe.exchange_rate ?? null,
      },
    );
    return { status: 201, json: cfe };
  },
};
