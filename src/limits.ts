export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;

/** Fixed maxima: every queue, cache, batch and page has one, and they all stand here. */
export const LIMITS = {
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
  segmentBytes: 64 * MIB,
  /** The bytes of one write. Assembling a longer one would delay the answers. */
  flushBytes: 8 * MIB,
  /** Seconds' worth of unused budget that are saved for bursts. */
  budgetBurstS: 30,
  countedAddresses: 50_000,
  /** Byte counts, one per flush and app. */
  backlogCells: 65_536,
  /** Below this multiple of the minimum free space, apps that write more than an even share are refused first. */
  diskShortTimes: 1.25,
  refusalsListed: 200,
  applyBatchBytes: 2 * MIB,
  /** The profiles of one batch's users: a batch of small events can name thousands of users with full profiles. */
  applyProfileBytes: 16 * MIB,
  observedNamesPerApp: 5_000,
  /** Names of events, and of properties, observed and declared together. */
  namesPerApp: 20_000,
  namesDeclared: 500,
  apps: 10_000,
  /** Unknown app tokens and ids: how many are remembered, and how many are looked up at once. */
  unknownApps: 10_000,
  appsLookedFor: 1_000,
  /** The name of an app or of a developer application. */
  nameLength: 200,
  /** Partitions opened in one transaction, and the longest wait for readers before a partition is split. */
  partitionsOpenedAtOnce: 50,
  partitionLockMs: 2_000,
  /** Remembered calls per app, and their bytes over all apps. */
  liveCalls: 1_000,
  liveBytes: 8 * MIB,
  liveCallBytes: 128 * KIB,
  /** Calls per second to each watcher, not counting calls in debug mode. */
  liveCallsPerS: 50,
  liveWaitingBytes: 4 * MIB,
  /** Bytes waiting for one watcher, including the remembered calls. */
  liveStreamBytes: 512 * KIB,
  liveWatchers: 100,
  /** Bytes of calls sent to watchers in one turn of the event loop. */
  liveTurnBytes: 64 * KIB,
  /** Bytes of remembered calls that are parsed to find those that a new watcher wants. */
  liveParsedBytes: 1 * MIB,
  liveTextBytes: 4 * KIB,
  /** The calls, users, touches and payments that the doctor looks at. */
  doctorBytes: 2 * MIB,
  doctorRows: 5_000,
  doctorPayers: 500,
  clientLookupBatch: 500,
  clientLookupQueue: 20_000,
  /** How long the answer to a registration waits for apply. A look-up of that user may wait longer. */
  registerWaitMs: 300,
  /** How long an answer waits for apply when it depends on the outcome of an entry. */
  appliedWaitMs: 3_000,
  eraseWaitMs: 60_000,
  setAsideListed: 1_000,
  setAsidePage: 50,
  setAsideShownBytes: 4 * KIB,
  setAsideReasonLength: 1_000,
  ledgerSteps: 1_500,
  asaTokenLength: 4_096,
  /** Limits of one link call: query and form body together, each value, ids of one kind, and all keys. */
  linkBytes: 16 * KIB,
  linkValueBytes: 8 * KIB,
  touchIdsPerKind: 8,
  touchKeys: 32,
  touchesPerKey: 50,
  touchPages: 20,
  touchesAtOnceMin: 20_000,
  touchesAtOncePerKey: 4,
  usersPerLateTouch: 100,
  decisionsPerPage: 250,
  slicesAtOnce: 100,
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
  /** Bodies up to this size are parsed on the main thread: whatever they hold, it takes a few milliseconds. */
  bodyBytesAtOnce: 128 * KIB,
  /** Values and depth of a larger body that is still parsed on the main thread. */
  bodyValuesAtOnce: 20_000,
  bodyDepthAtOnce: 64,
  /** A report's body up to this size is signed in all spellings without yielding to other requests. */
  signBytesAtOnce: 16 * KIB,
  /** Values and depth of a body that the separate thread parses, and how many bodies may wait for it. */
  bodyValues: 250_000,
  bodyDepth: 128 * KIB,
  largeBodiesWaiting: 64,
  largeBodyHeapMb: 256,
  largeBodyNurseryMb: 16,
  /** Apps whose metadata the thread keeps. */
  largeBodyApps: 100,
  /** Packed bodies up to this size may be unpacked on the main thread. */
  packedBytesAtOnce: 16 * KIB,
  /** Admission's verdicts on the events of one call. */
  verdictBytes: 1 * MIB,
  formParts: 20,
  /** The upper limit of the settings for bodies, so that journal entries stay readable when the settings change. */
  bodyUnpackedBytes: 32 * MIB,
  reportRows: 100_000,
  explainedRows: 10_000,
  /** Reports in one request, run one after the other. */
  reportsAtOnce: 20,
  /** Views of one person for one app. */
  reportViews: 200,
  reportViewsListed: 2_000,
  reportViewParameters: 50,
  reportViewParameterLength: 4_096,
  /** Fewer than the connections for reports, so that slow readers never block reports. */
  exportsAtOnce: 2,
  csvRows: 1_000_000,
  csvRowsAtOnce: 2_000,
  csvLineBytes: 64 * KIB,
  csvProblems: 10,
  /** Limits of the preview of a file. */
  previewRows: 50,
  previewProblems: 200,
  previewSums: 400,
  previewsAtOnce: 2,
  reportDays: 3_660,
  pageSize: 500,
  listRows: 10_000_000,
  timelineRows: 200,
  usersFound: 20,
  /** Pipelined requests of one connection that wait for earlier answers. */
  requestsWaiting: 100,
  /** Requests handled in one turn of the event loop, except on the fast paths of event collect and links. */
  requestsPerTurn: 8,
  /** Bytes of a refused body that are read and discarded. */
  unreadBytes: 64 * MIB,
  linkReplies: 1_000,
  signInFailures: 10_000,
  /** Passwords waiting to be hashed one after the other, for known people and for strangers each. */
  passwordsWaiting: 16,
  seenSessions: 1_000,
  auditListed: 200,
  auditDetailBytes: 4_096,
  /** Failed sign-ins in the audit log per hour: addresses with their own entry, and names in one entry. */
  failedSignInEntries: 50,
  failedSignInNames: 10,
  asaTokensAtOnce: 20,
  /** Postbacks of one account at the same time. */
  postbacksInFlight: 64,
  costPullsAtOnce: 4,
  costDeadlineMs: 30_000,
  costReplyBytes: 16 * MIB,
  /** Requests to a platform, and rows, for one range of days. */
  costQuestions: 20_000,
  costRows: 500_000,
  /** Days in one requested pull. */
  costDays: 366,
  /** Days of pulls shown at once. */
  pullDaysShown: 92,
  rulesPerApp: 200,
  propertyTestsPerRule: 20,
  postbacksListed: 1_000,
  postbacksAtOnce: 500,
  /** Postbacks selected one by one for resending. */
  postbacksSelected: 500,
  postbackReasons: 50,
  /** Postbacks resent by one call; the next call takes the rest. */
  postbacksResent: 50_000,
  dryRunUsersAtOnce: 500,
  /** Together with the exports, fewer than the connections for reports. */
  dryRunsAtOnce: 1,
  accountsPerApp: 500,
  accountValueBytes: 16 * KIB,
  callbackEvents: 200,
  addressLength: 2_000,
  spanUsersAtOnce: 200,
  applyTries: 3,
  /**
   * How long a transaction may be idle. A process that is frozen or cut off within a transaction would keep its locks
   * forever, and apply and every other sender would wait for them. After this time the database ends the transaction; a
   * process that wakes up starts it again.
   */
  transactionIdleMs: 30_000,
  /** Decoded batches that may wait: enough to keep apply busy while there is something to read. */
  batchesReadAhead: 1,
  /** Errors listed in an answer. More are not worth sending; the journal and the ledger hold all of them. */
  errorsListed: 1_000,
  sharedDevicesShown: 50,
  rememberedNames: 20_000,
  rememberedDays: 10_000,
  rememberedShapes: 16,
  rememberedShapeKeys: 100,
  rememberedTexts: 10_000,
  rememberedTextLength: 40,
} as const;
