import * as z from 'zod';
import { loadUiValues } from '../../commands/loadUiValues.ts';
import type { UiValue } from '../../db/entities/UiValue.ts';
import { listUiValues } from '../../db/uiValues.ts';
import { exactNumber } from '../../domain/exactNumber.ts';
import { defineVerb, type Group } from '../verb.ts';

const row = ({ year, value, source, estimate }: UiValue) => ({
  year,
  value: exactNumber(value),
  source,
  estimate,
});

const list = defineVerb({
  name: 'list',
  summary: 'List the UI value of every year that has one',
  reads: true,
  examples: ['', '--json'],
  input: z.strictObject({}),
  async run({ orm }) {
    return (await listUiValues(orm.em.fork())).map(row);
  },
});

const load = defineVerb({
  name: 'load',
  summary: 'Set the UI values of one or more years',
  args: {
    FILE: 'JSON: [{"year", "value", "source", "estimate"}]; the value is that of 31 December of the year before',
  },
  examples: ['ui-values.json'],
  input: z.strictObject({ file: z.string() }),
  async run(deps, { file }) {
    return (await loadUiValues(deps, { file: deps.readFile(file) })).map(row);
  },
});

/** `cfe ui-value`: pesos of one indexed unit by year, for the limit above which e-Tickets name their receiver. */
export const uiValue: Group = {
  name: 'ui-value',
  summary: 'Pesos of one indexed unit (UI), by year',
  verbs: [list, load],
};
