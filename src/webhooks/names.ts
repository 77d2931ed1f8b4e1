import { Resolver as DnsResolver, lookup } from 'node:dns/promises';

/** Resolves a name to all its addresses, of both families; rejects, or answers none, where it has none. */
export type Resolver = (host: string) => Promise<{ address: string; family: number }[]>;

/** Of one question; the second takes twice as long. Together well below what an attempt may take. */
const QUESTION_MILLISECONDS = 2_000;
const QUESTIONS = 2;

/**
 * Asks the name servers of this machine, or `servers`, over the network. The system's own look-up (getaddrinfo) takes one
 * of the four threads of the process until it has its answer: whoever gave a webhook a name whose server is silent would
 * hold them all, and with them the look-ups of the authority. Each name has a resolver of its own, for one remembers how
 * its servers fared.
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

/** The system's look-up, which knows the names that this machine gives itself; for receivers in development. */
export const askSystem: Resolver = (host) => lookup(host, { all: true });
