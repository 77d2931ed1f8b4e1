/**
 * Deadlines that depend on one another, in milliseconds; test/unit/domain/authority/deadlines.test.ts checks their order. Imports
 * nothing, so that workflows may use it.
 */
export const DEADLINES = {
  /** Interval of the heartbeats of a long activity. */
  heartbeatEvery: 3_000,
  /** Without a heartbeat for this time the activity counts as lost: the server notices a dead worker within seconds. */
  heartbeatTimeout: 10_000,

  /** One attempt of work on our own database. */
  ownAttempt: 20_000,
  /** One attempt of work on many rows of our database, with heartbeats. */
  ownLongAttempt: 3_600_000,

  /** One attempt with a slot of the rate limiter and, as a rule, two calls of CFE_DGI_ANSWER_SECONDS each. */
  authorityAttempt: 180_000,
  /** Latest moment to send after an attempt starts; a CFE is not abandoned while a send may still leave. */
  sendLeaves: 60_000,
  /**
   * The authority may list a sobre late: only after this time since the last send does it count as absent
   * (docs/decisions/numbering.md#when-support-may-abandon-a-cfe). Above the time that a send may take to leave and to
   * be answered.
   */
  listLag: 600_000,
  /** A silent prober loses its slot after this time: above the longest attempt, which may still use the slot. */
  slotUnused: 200_000,
  /** The longest wait of an enterprise's next CFEs for a sobre that has its slot and is not received yet. */
  sobreInFlight: 10_000,

  /** A step that fails by a bug is retried automatically; support is notified after this time. */
  bugEscalation: 3_600_000,

  /** One action of support: up to five queries to the authority. */
  supportAttempt: 400_000,
  /** The command line waits a little longer than the action may take. */
  supportAnswer: 420_000,

  /** The answer of a customer's server… */
  receiverAnswer: 15_000,
  /** …and the start of its body. */
  receiverBody: 2_000,
  /** One attempt of a delivery: both, and our own database. */
  deliveryAttempt: 40_000,

  /** The connection to the mail server… */
  mailConnect: 15_000,
  /** …and each of its responses; one of them includes scanning the e-mail. */
  mailAnswer: 60_000,
  /** One attempt of an e-mail: drawing the receipt, some ten responses of the server, and our own database. */
  mailAttempt: 300_000,

  /** After SIGTERM, running activities may continue for this time… */
  workerGrace: 20_000,
  /** …then they are cancelled and another worker continues; a cancelled SOAP call has an unknown outcome. */
  workerCut: 24_000,
  /** A process ends on its own within this time after SIGTERM. */
  processGone: 28_000,
  /** Supervisors kill (`stop_grace_period`, `terminationGracePeriodSeconds`). */
  supervisorKills: 30_000,
} as const;
