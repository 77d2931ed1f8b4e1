/** The first page of the document, in Markdown. */
export const INTRODUCTION = `
Companies in Uruguay issue electronic fiscal receipts (CFE) with this API: tickets, invoices, export invoices, and the
credit and debit notes for each. The service numbers and signs them and sends them to the tax authority (DGI).

**Authentication.** Exchange the API key for an access token at \`POST /tokens\`, and send both with every other request:
\`X-API-Key\` and \`Authorization: Bearer …\`. Use a sandbox key with \`X-Sandbox-Mode: true\` on the endpoints that
support it; receipts issued there have no fiscal validity. The header names the caller's environment. Read sandbox
receipts with a production key and the query parameter \`environment\`.

**Answers.** A success is \`{"data": …}\`, an error \`{"error": {"code", "message", "details"?}}\`. Branch on the HTTP
status and on \`code\`, not on the message. A 400 lists every fault at once in \`details.fields\`, each with a JSON
Pointer to the field and a stable code. A field without a value is \`null\`, never omitted. Every answer carries
\`X-Request-Id\`.

**Bodies are strict.** Fields and query parameters that are not described here are rejected by name, except
inside the text of \`extra\`: a misspelt key there is ignored silently, and the default applies. Amounts are JSON
numbers, read digit by digit; a number with too many decimals is rejected, never rounded. Answers may gain fields at any
time: ignore those you do not know.

**Retries are safe.** Send an \`Idempotency-Key\` with each POST except \`/tokens\`, and repeat the request with the same key if no answer
arrives. One key numbers at most one receipt, permanently; other answers are kept for 24 hours.

**Webhooks.** The service reports changes to your own server by HTTPS POST, signed according to Standard Webhooks 1.0.
The chapter Webhooks describes every event, its headers, and the expected answers.

**Limits.** 1,000 requests per hour and account in production, 5,000 in the sandbox, unless agreed otherwise. The header
\`RateLimit\` says how many are left.

**Other methods and paths.** A path that is not described here answers 404 \`NOT_FOUND\`; another method answers 405
\`METHOD_NOT_ALLOWED\` with the header \`Allow\`. Every GET also answers HEAD; OPTIONS lists the methods of a path.
`.trim();
