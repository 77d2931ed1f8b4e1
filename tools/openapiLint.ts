/**
 * Judges the API's description as whoever reads it gets it: by Redocly's rules, and that nothing in it is left
 * unexplained. Offline.
 */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openApiDocument } from '../src/api/openapi/document.ts';
import { readExamples } from '../src/api/openapi/examples.ts';
import { ROUTES } from '../src/api/routes/index.ts';
import { undescribed, withoutSource } from './openapi/undescribed.ts';

/** Rules beside Redocly's strict set, and those of it that do not hold here, each with the reason. */
const RULES = {
  'no-invalid-schema-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'operation-description': 'error',
  'tag-description': 'error',
  'no-duplicated-tag-names': 'error',
  'component-name-unique': 'error',
  // No licence is granted: the API is offered to customers by contract.
  'info-license': 'off',
  // `Error` and the error of 405 answer what no operation describes, and `CfeExtra` is what a text holds.
  'no-unused-components': 'off',
} as const;

const document = JSON.parse(JSON.stringify(openApiDocument(ROUTES, readExamples()))) as Record<
  string,
  unknown
>;
const config = await createConfig({ extends: ['recommended-strict'], rules: RULES });
const problems = await lintFromString({ source: JSON.stringify(document), config });
for (const { ruleId, message, location } of problems)
  console.log(`openapi.json${location[0]?.pointer ?? ''}: ${message} (${ruleId})`);
const found = [...undescribed(document), ...withoutSource(document)];
for (const place of found) console.log(`openapi.json lacks ${place}`);
process.exitCode = problems.length + found.length > 0 ? 1 : 0;
