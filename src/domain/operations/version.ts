/** The version of the service, in openapi.json and in the operator's declarations. */
export const VERSION = '1.0.0';
