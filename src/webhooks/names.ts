import { Resolver as DnsResolver, lookup } from 'node:dns/promises';

/**
 * Resolves a name to all its addresses, of both families; rejects, or returns none, for a name without
 * addresses.
 */
export type Resolver = (host: string) => Promise<{ address: string; family: number }[]>;

/**
 * Time for the first query; the second gets twice as long. Both together are well below the limit of an attempt.
 */
const QUESTION_MILLISECONDS = 2_000;
const QUESTIONS = 2;

/**
 * Creates a resolver that asks the name servers of this machine, or `servers`. The system's look-up (getaddrinfo) would
 * hold one of the process's four threads until it has an answer: names with silent servers would block all look-ups, also
 * the authority's. Each name gets its own DnsResolver, which would otherwise remember its servers' failures.
 */
export function askNameServers({
  servers,
  milliseconds = QUESTION_MILLISECONDS,
}: {
  servers?: readonly string[];
  milliseconds?: number;
} = {}): Resolver {
  return async (host) => {
    const resolver = new DnsResolver({ timeout: milliseconds, tries: QUESTIONS });
    if (servers) resolver.setServers(servers);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return [
      ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
  };
}

/** The system's look-up, which knows the machine's own names; for receivers in development. */
export const askSystem: Resolver = (host) => lookup(host, { all: true });
