/** Judges the API's description as whoever reads it gets it: nothing in it is left unexplained. */
import { openApiDocument } from '../src/api/openapi/document.ts';
import { readExamples } from '../src/api/openapi/examples.ts';
import { ROUTES } from '../src/api/routes/index.ts';
import { undescribed, withoutSource } from './openapi/undescribed.ts';

const document = JSON.parse(JSON.stringify(openApiDocument(ROUTES, readExamples()))) as Record<
  string,
  unknown
>;
const found = [...undescribed(document), ...withoutSource(document)];
for (const place of found) console.log(`openapi.json lacks ${place}`);
process.exitCode = found.length > 0 ? 1 : 0;
