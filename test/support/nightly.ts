/** Whether this is `npm run test:nightly`: whole tables instead of a part, more random requests, another seed each time. */
export const NIGHTLY = process.env['CFE_TEST_NIGHTLY'] === '1';
