/** The first page of the document, in Markdown. */
export const INTRODUCTION = `
Companies in Uruguay issue electronic fiscal receipts (CFE) with this API: tickets, invoices, exports, and the credit
and debit notes to each. It numbers them, signs them and brings them to the tax authority (DGI).

**Getting in.** Exchange the API key at \`POST /tokens\` for an access token, and send both with every other request:
\`X-API-Key\` and \`Authorization: Bearer …\`. A sandbox key is used with \`X-Sandbox-Mode: true\`, where that is
supported; what it issues has no fiscal validity.

**Answers.** A success is \`{"data": …}\`, a refusal \`{"error": {"code", "message", "details"?}}\`. Decide by the HTTP
status and by \`code\`. A 400 lists every fault at once in \`details.fields\`, each with a JSON Pointer to its place and
a stable code. What a thing has not yet is \`null\`, never left out. Every answer carries \`X-Request-Id\`.

**Bodies are strict.** A field or a query parameter that is not described here is refused by name. Amounts are JSON
numbers, read digit by digit; more decimals than a field holds are refused, never rounded. Answers may gain fields at
any time: read those you know.

**Trying again is safe.** Send an \`Idempotency-Key\` with a POST; repeat the request with the same key when the answer
did not arrive. A receipt is numbered once for a key, for ever; other answers are kept for 24 hours.

**Webhooks.** What changes is told to your own server by HTTPS POST, signed by Standard Webhooks 1.0: see the chapter
Webhooks for every event, its headers and the answers that count.

**Limits.** 1,000 requests an hour and account in production, 5,000 in the sandbox, unless agreed otherwise;
\`RateLimit\` tells where you stand.

**Other methods and paths.** A path that is not described here answers 404 \`NOT_FOUND\`, another method 405
\`METHOD_NOT_ALLOWED\` with \`Allow\`. Each GET can be asked as HEAD; OPTIONS tells the methods of a path.
`.trim();
