/**
 * `node src/main/healthCheck.ts URL`: exits with 0 if the address answers 200 within 3 s; for images without
 * curl.
 */
const PATIENCE_MILLISECONDS = 3_000;

const [url = ''] = process.argv.slice(2);
const healthy = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exitCode = healthy ? 0 : 1;
