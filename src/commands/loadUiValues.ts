import type { UiValue } from '../db/entities/UiValue.ts';
import { listUiValues, putUiValues } from '../db/uiValues.ts';
import { readRows, UiValueList } from '../domain/operatorFiles.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Takes UI values from a file: a JSON list of {year, value, source, estimate}, each in place of that year's one. An
 * operator's act. Answers all that are known. Refuses a file with faults, all at once (INVALID_INPUT).
 */
export async function loadUiValues(deps: CommandDeps, input: { file: string }): Promise<UiValue[]> {
  const rows = readRows(UiValueList, input.file);
  return deps.orm.em.fork().transactional(async (em) => {
    await putUiValues(
      em,
      rows.map(({ year, value, source, estimate }) => ({ year, value: value.toFixed(4), source, estimate })),
    );
    const subject = rows.map(({ year }) => year).join(' ');
    audited(deps, em, { action: 'ui_value.load', subject }, deps.clock());
    return listUiValues(em);
  });
}
