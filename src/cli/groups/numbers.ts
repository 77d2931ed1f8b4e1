import * as z from 'zod';
import { reconcileNumbers } from '../../db/reconciliation.ts';
import { Rut } from '../../domain/rut.ts';
import { defineVerb, type Group } from '../verb.ts';

const reconcile = defineVerb({
  name: 'reconcile',
  summary:
    'Prove for every CAE that given = issued + annulled + waiting; exit code 1 where a number is unaccounted for',
  reads: true,
  options: [{ flags: '--rut <rut>', about: 'only CAEs of this enterprise' }],
  examples: ['', '--rut 219999830019 --json'],
  input: z.strictObject({ rut: Rut.optional() }),
  async run({ orm }, { rut }) {
    return (await reconcileNumbers(orm.em.fork(), { rut })).map(({ authorizationNumber, type, ...cae }) => ({
      rut: cae.rut,
      environment: cae.environment,
      authorization_number: authorizationNumber,
      cfe_type: type,
      serie: cae.serie,
      given: cae.given,
      issued: cae.issued,
      annulled: cae.annulled,
      waiting: cae.waiting,
      elsewhere: cae.elsewhere,
    }));
  },
  isWell: (rows) =>
    rows.every(
      ({ given, issued, annulled, waiting }) => given === Number(issued) + Number(annulled) + Number(waiting),
    ),
});

/** `cfe numbers`: whether every number is accounted for. */
export const numbers: Group = {
  name: 'numbers',
  summary: 'The numbers of CAEs: the proof that none is unaccounted for',
  verbs: [reconcile],
};
