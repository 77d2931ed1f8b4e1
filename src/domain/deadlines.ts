/**
 * The deadlines that depend on one another, in milliseconds: whoever changes one sees here what it must stay above or
 * below, and test/unit/domain/deadlines.test.ts holds it to that. Imports nothing, so that workflows may use it.
 */
export const DEADLINES = {
  /** A long activity says so often that it is alive… */
  heartbeatEvery: 3_000,
  /** …and counts as lost after so long without a word, so that the server notices within seconds when a worker is gone. */
  heartbeatTimeout: 10_000,

  /** One attempt of work on our own database. */
  ownAttempt: 20_000,
  /** The same, through many rows, with heartbeats. */
  ownLongAttempt: 3_600_000,

  /**
   * One attempt that speaks with the authority: the wait for a slot (gate/gate.ts) and, as a rule, two calls of at most
   * CFE_DGI_ANSWER_SECONDS each. An attempt that needs more runs out of time and is repeated.
   */
  authorityAttempt: 180_000,
  /** A send that has not left by then is given up; no abandonment is stored as long as one may leave. */
  sendLeaves: 60_000,
  /**
   * A sobre that the authority does not list may be listed yet: so long after the last send it counts as not there
   * (docs/decisions/numbering.md#when-support-may-abandon-a-cfe). Above the time that a send may take to leave and to
   * be answered.
   */
  listLag: 600_000,
  /** A prober of which nothing was heard since its slot is given up: above the longest attempt, which may still use it. */
  slotUnused: 200_000,
  /** What an enterprise's next few CFEs wait for: a sobre that had its slot and was not received yet; so long at most. */
  sobreInFlight: 10_000,

  /** A step that keeps failing by a mistake of ours is tried again by itself; after so long a person is told. */
  ownFault: 3_600_000,

  /** One act of support: up to five questions to the authority. */
  supportAttempt: 400_000,
  /** The command line waits for the answer a little longer than the act may take. */
  supportAnswer: 420_000,

  /** A customer's server answers within… */
  receiverAnswer: 15_000,
  /** …and the beginning of its body is read within. */
  receiverBody: 2_000,
  /** One attempt of a delivery: both, and our own database. */
  deliveryAttempt: 40_000,

  /** The mail server is reached within… */
  mailConnect: 15_000,
  /** …and says each of its words within; one it may take to look through an e-mail. */
  mailAnswer: 60_000,
  /** One attempt of an e-mail: drawing the receipt, some ten words of the server, and our own database. */
  mailAttempt: 300_000,

  /** After SIGTERM, activities under way may go on for so long… */
  workerGrace: 20_000,
  /** …then they are cut off and go on in another worker; a SOAP call becomes an unclear outcome, and is asked about. */
  workerCut: 24_000,
  /** By then a process that is told to end is gone by itself. */
  processGone: 28_000,
  /** Supervisors kill (`stop_grace_period`, `terminationGracePeriodSeconds`). */
  supervisorKills: 30_000,
} as const;
