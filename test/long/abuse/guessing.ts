import type { Attack } from '../../support/api/abuse.ts';

/** What a caller tries to learn by asking again and again. */
export const GUESSING: readonly Attack[] = [
  {
    name: 'a hundred guesses of the login of a company that the caller registered',
    times: 100,
    atOnce: 10,
    async send({ attacker }, place) {
      const login = { username: 'contadora', password: `guess ${place}` };
      return (await attacker.client.post(`/enterprises/${attacker.rut}/validate-efactura`, login)).status;
    },
    answers: [202, 429],
  },
];
