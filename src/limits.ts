export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;

const DAY_MS = 86_400_000;

/** What callers and operators may run into: the sizes of what they send, and how many of a thing they can have. */
const MET_BY_USERS = {
  eventsPerRequest: 1_000,
  clientIdLength: 128,
  userGetIds: 100,
  traceIdLength: 128,
  propertyTextBytes: 2_048,
  propertyListLength: 500,
  /** The JSON size of one property value, and of a whole profile. */
  propertyBytes: 16 * KIB,
  profileBytes: 256 * KIB,
  profileProperties: 1_000,
  propertyNumber: Number("9999999999999.999"),
  nestingDepth: 16,
  adDataBytes: 64 * KIB,
  /** JSON text inside a launch query: its size, how often it is decoded, and its nesting. */
  adParamsBytes: 32 * KIB,
  adParamsDecodings: 2,
  adParamsDepth: 2,
  asaTokenLength: 4_096,
  /** Limits of one link call: query and form body together, each value, ids of one kind, and all keys. */
  linkBytes: 16 * KIB,
  linkValueBytes: 8 * KIB,
  /** The items of a list that a platform posts to its link, and their size when each is written as a link call. */
  linkItems: 100,
  linkListBytes: 64 * KIB,
  touchIdsPerKind: 8,
  touchKeys: 32,
  /** The bytes of each value that reports group by: all values of a user or of a cost row must fit one index entry. */
  dimensionBytes: 200,
  /** The largest bodies by purpose; those of event collect are settings. */
  signInBodyBytes: 4 * KIB,
  settingsBodyBytes: 64 * KIB,
  userBodyBytes: 128 * KIB,
  reportBodyBytes: 512 * KIB,
  /** An uploaded file within JSON, and as a raw body. */
  fileBodyBytes: 2 * MIB,
  fileBytes: 16 * MIB,
  /** Past events in one call, and a single one of them. */
  historyBytes: 4 * MIB,
  historyLineBytes: 2 * MIB,
  formParts: 20,
  /** Values and depth of a body that the separate thread parses. */
  bodyValues: 250_000,
  bodyDepth: 128 * KIB,
  /** The upper limit of the settings for bodies, so that journal entries stay readable when the settings change. */
  bodyUnpackedBytes: 32 * MIB,
  /** Pipelined requests of one connection that wait for earlier answers. */
  requestsWaiting: 100,
  /** Errors listed in an answer. More are not worth sending; the journal and the ledger hold all of them. */
  errorsListed: 1_000,
  /** Seconds' worth of unused budget that are saved for bursts. */
  budgetBurstS: 30,
  /** Allowed clock difference of callers whose token ends: the same as for `current_time`. */
  clockS: 10,

  apps: 10_000,
  /** The name of a person, which may be an e-mail address: the longest that RFC 5321 allows. */
  personNameLength: 254,
  /** Roles of one person, one for each app. */
  grantsPerPerson: 1_000,
  /** Tokens for programs: usable ones of one owner, others kept of one owner, shown ones, and how many days one lasts. */
  apiTokens: 50,
  apiTokensPast: 100,
  apiTokensListed: 1_000,
  apiTokenDays: 366,
  /** The passphrase that protects the key in a backup. */
  passphraseLengthMin: 12,
  /** The name of an app or of a developer application. */
  nameLength: 200,
  observedNamesPerApp: 5_000,
  /** Names of events, and of properties, observed and declared together. */
  namesPerApp: 20_000,
  namesDeclared: 500,
  accountsPerApp: 500,
  accountValueBytes: 16 * KIB,
  /** Declared connectors of an app, and the length of each. */
  connectorsPerApp: 50,
  declarationBytes: 16 * KIB,
  /** Authorisations at platforms that one person has begun and not ended, in all apps. */
  authorisationsOpen: 10,
  callbackEvents: 200,
  addressLength: 2_000,
  rulesPerApp: 200,
  propertyTestsPerRule: 20,
  /** The latest day after registration for which retention can be reported to a platform. */
  retentionDays: 365,

  /** Remembered calls per app. */
  liveCalls: 1_000,
  liveCallBytes: 128 * KIB,
  /** Calls per second to each watcher, not counting calls in debug mode. */
  liveCallsPerS: 50,
  liveWatchers: 100,

  reportDays: 3_660,
  reportRows: 100_000,
  explainedRows: 10_000,
  /** Reports in one request, run one after the other. */
  reportsAtOnce: 20,
  /** Views of one person for one app. */
  reportViews: 200,
  reportViewParameters: 50,
  reportViewParameterLength: 4_096,
  /** Fewer than the connections for reports, so that slow readers never block reports. */
  exportsAtOnce: 2,
  /** Together with the exports, fewer than the connections for reports. */
  dryRunsAtOnce: 1,
  previewsAtOnce: 2,
  pageSize: 500,
  listRows: 10_000_000,
  timelineRows: 200,
  usersFound: 20,
  /** Questions about events: days of a range, and of one by the hour; series; groups shown; values, conditions and depth. */
  analysisDays: 366,
  analysisHourDays: 31,
  analysisSeries: 10,
  analysisGroups: 100,
  analysisValues: 1_000,
  analysisConditions: 50,
  analysisDepth: 4,
  funnelSteps: 10,
  /** From the first step to the last: 90 days. */
  funnelMinutes: 129_600,
  retentionPeriods: 90,
  distributionEdges: 50,
  pathGapMinutes: 1_440,
  pathLevels: 10,
  pathTop: 20,
  /** Saved segments, the length of a name, and the users of one by which a list is filtered. */
  segmentsPerApp: 500,
  segmentNameLength: 100,
  segmentUsers: 100_000,
  /** Client ids behind one number of a question. */
  analysisUsers: 100_000,
  /** Questions that wait for the one that is being answered; how long one may take, and rows of an answer. */
  questionsWaiting: 16,
  questionMs: 30_000,
  questionRows: 10_000,
  /** Rows that a report by the hour takes from the lake, of days that are only there. */
  coldActivityRows: 500_000,
  auditListed: 200,

  /** Periods of all accounts together. */
  rebatesPerApp: 20_000,
  /** Periods of all ad units together. */
  ecpmsPerApp: 5_000,
  shareRulesPerApp: 100,

  csvRows: 1_000_000,
  csvLineBytes: 64 * KIB,
  /** Days in one requested pull. */
  costDays: 366,
  /** Days of pulls shown at once. */
  pullDaysShown: 92,
  postbacksListed: 1_000,
  /** Postbacks selected one by one for resending. */
  postbacksSelected: 500,
  /** Postbacks resent by one call; the next call takes the rest. */
  postbacksResent: 50_000,
  setAsideListed: 1_000,
  setAsidePage: 50,
} as const;

/** What several files must agree on. */
const SHARED = {
  segmentBytes: 64 * MIB,
  /** Byte counts, one per flush and app, of some 350 bytes of memory each. */
  backlogCells: 8_192,
  applyBatchBytes: 2 * MIB,
  /** The profiles of one batch's users: a batch of small events can name thousands of users with full profiles. */
  applyProfileBytes: 16 * MIB,
  /** Unknown apps that are looked up at once. */
  appsLookedFor: 1_000,
  /** The greatest whole number of an integer column. Columns for times and money are larger. */
  tableInteger: 2 ** 31 - 1,
  /** Remembered calls of all apps together. */
  liveBytes: 8 * MIB,
  liveWaitingBytes: 4 * MIB,
  /** Bytes waiting for one watcher, including the remembered calls. */
  liveStreamBytes: 512 * KIB,
  /** Bytes of calls sent to watchers in one turn of the event loop. */
  liveTurnBytes: 64 * KIB,
  /** How long an answer waits for apply when it depends on the outcome of an entry. */
  appliedWaitMs: 3_000,
  setAsideShownBytes: 4 * KIB,
  setAsideReasonLength: 1_000,
  ledgerSteps: 1_500,
  /** The minimum time that touches are kept and looked up: What-if tries windows wider than the ones in force. */
  touchKeptMsMin: 14 * DAY_MS,
  touchesPerKey: 50,
  /** Bodies up to this size are parsed on the main thread: whatever they hold, it takes a few milliseconds. */
  bodyBytesAtOnce: 128 * KIB,
  /** Bodies up to this size, about a thousand events, go to judge threads: others wait behind one for some milliseconds. */
  bodyBytesHandedOver: 512 * KIB,
  /** Values and depth of a larger body that is still parsed on the main thread. */
  bodyValuesAtOnce: 20_000,
  bodyDepthAtOnce: 64,
  /** Bodies that may wait for the thread of large bodies. */
  largeBodiesWaiting: 64,
  /** The apps whose metadata a thread that judges bodies keeps. */
  toldApps: 100,
  /** Requests handled in one turn of the event loop, except on the fast paths of event collect and links. */
  requestsPerTurn: 8,
  /** Bytes of a refused body that are read and discarded. */
  unreadBytes: 64 * MIB,
  signInFailures: 10_000,
  /** Passwords waiting to be hashed one after the other, for known people and for strangers each. */
  passwordsWaiting: 16,
  seenSessions: 1_000,
  /** Failed sign-ins in the audit log per hour: addresses with their own entry, and names in one entry. */
  failedSignInEntries: 50,
  failedSignInNames: 10,
  /** Postbacks of one account at the same time. */
  postbacksInFlight: 64,
  /** Postbacks of one account that are in flight, or whose outcomes wait for the database. */
  postbacksHeld: 256,
  postbacksAtOnce: 500,
  costPullsAtOnce: 4,
  /**
   * How long a transaction may be idle. A process that is frozen or cut off within a transaction would keep its locks
   * forever, and apply and every other sender would wait for them. After this time the database ends the transaction; a
   * process that wakes up starts it again.
   */
  transactionIdleMs: 30_000,
  /** How long a check on a new database connection may take before the server counts as silent. */
  connectionCheckMs: 2_000,
  /** How long positions of the primary are remembered. A replica further behind than this is not read. */
  replicaLagMs: 5 * 60_000,
  rememberedDays: 10_000,
} as const;

/**
 * Fixed maxima: every queue, cache, batch and page has one. Those that users may run into and those that several files
 * share stand here; a maximum that concerns one file only stands beside its use.
 */
export const LIMITS = { ...MET_BY_USERS, ...SHARED } as const;
