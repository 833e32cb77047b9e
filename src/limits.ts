export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;

/** Maxima that nobody needs to set: every queue, cache, batch and page has one, and they all stand here. */
export const LIMITS = {
  eventsPerRequest: 1_000,
  clientIdLength: 128,
  userGetIds: 100,
  traceIdLength: 128,
  propertyTextBytes: 2_048,
  propertyListLength: 500,
  /** Of one value of any type, and of all that is kept of a user, as JSON. */
  propertyBytes: 16 * KIB,
  profileBytes: 256 * KIB,
  profileProperties: 1_000,
  propertyNumber: Number("9999999999999.999"),
  nestingDepth: 16,
  adDataBytes: 64 * KIB,
  /** Of the part of a launch query that is JSON text: its size, how often it is decoded, and texts within it. */
  adParamsBytes: 32 * KIB,
  adParamsDecodings: 2,
  adParamsDepth: 2,
  segmentBytes: 64 * MIB,
  /** Of one write: to make up a longer one would keep the answers waiting. */
  flushBytes: 8 * MIB,
  /** What is not used of a budget is kept for so long. */
  budgetBurstS: 30,
  countedAddresses: 50_000,
  /** Counts of bytes by flush and app. */
  backlogCells: 65_536,
  /** Below so many times the least free space, apps that write more than an even share are refused first. */
  diskShortTimes: 1.25,
  refusalsListed: 200,
  applyBatchBytes: 2 * MIB,
  /** Of the users of one batch: a batch of small events can name thousands of users whose profiles are full. */
  applyProfileBytes: 16 * MIB,
  observedNamesPerApp: 5_000,
  /** Of events, and of properties: observed and declared ones together. */
  namesPerApp: 20_000,
  namesDeclared: 500,
  apps: 10_000,
  /** Names of apps that do not exist, remembered and looked for at the same time. */
  unknownApps: 10_000,
  appsLookedFor: 1_000,
  /** What people call an app, or a developer application. */
  nameLength: 200,
  /** In one transaction, and how long others are waited for when one has to be taken apart. */
  partitionsOpenedAtOnce: 50,
  partitionLockMs: 2_000,
  /** Remembered, of each app and of all together. */
  liveCalls: 1_000,
  liveBytes: 8 * MIB,
  liveCallBytes: 128 * KIB,
  /** Not of debug mode, to each who watches. */
  liveCallsPerS: 50,
  liveWaitingBytes: 4 * MIB,
  /** Waiting to be read by one who watches, what is remembered included. */
  liveStreamBytes: 512 * KIB,
  liveWatchers: 100,
  /** Calls that are told to watchers in one turn of the event loop. */
  liveTurnBytes: 64 * KIB,
  /** Remembered calls that are parsed to find the ones that a new watcher wants. */
  liveParsedBytes: 1 * MIB,
  liveTextBytes: 4 * KIB,
  /** Of the calls, users, touches and payments that the doctor looks at. */
  doctorBytes: 2 * MIB,
  doctorRows: 5_000,
  doctorPayers: 500,
  clientLookupBatch: 500,
  clientLookupQueue: 20_000,
  /** How long the answer to a registration waits for apply. A look-up of that user waits longer, if it must. */
  registerWaitMs: 300,
  /** How long an answer waits for apply when it depends on what came of an entry. */
  appliedWaitMs: 3_000,
  eraseWaitMs: 60_000,
  setAsideListed: 1_000,
  setAsidePage: 50,
  setAsideShownBytes: 4 * KIB,
  setAsideReasonLength: 1_000,
  ledgerSteps: 1_500,
  asaTokenLength: 4_096,
  /** Of one link call: the query and the form of the body together, each value, ids of one kind, and all keys. */
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
  /** Of each value that reports group by: all of a user, or of a cost row, together fit an index. */
  dimensionBytes: 200,
  /** The largest bodies, by what they are for; those of event collect are settings. */
  signInBodyBytes: 4 * KIB,
  settingsBodyBytes: 64 * KIB,
  userBodyBytes: 128 * KIB,
  reportBodyBytes: 512 * KIB,
  /** Of a file as JSON, and as itself. */
  fileBodyBytes: 2 * MIB,
  fileBytes: 16 * MIB,
  /** Bodies up to this size are parsed where they are received: whatever they hold, that takes a few milliseconds. */
  bodyBytesAtOnce: 128 * KIB,
  /** Of a larger one that is parsed there all the same. */
  bodyValuesAtOnce: 20_000,
  bodyDepthAtOnce: 64,
  /** Of a report's body: in all spellings it is signed without a turn for others in between. */
  signBytesAtOnce: 16 * KIB,
  /** Of larger ones, which a thread of their own parses, and so many of them at the same time. */
  bodyValues: 250_000,
  bodyDepth: 128 * KIB,
  largeBodiesWaiting: 64,
  largeBodyHeapMb: 256,
  largeBodyNurseryMb: 16,
  /** Apps whose metadata that thread keeps. */
  largeBodyApps: 100,
  /** Packed bodies up to this size may be unpacked where they are received. */
  packedBytesAtOnce: 16 * KIB,
  /** What admission may find wrong with the events of one call. */
  verdictBytes: 1 * MIB,
  formParts: 20,
  /** However large the settings let a body become; what is in a journal stays readable when they change. */
  bodyUnpackedBytes: 32 * MIB,
  reportRows: 100_000,
  explainedRows: 10_000,
  /** Of one request, one after the other. */
  reportsAtOnce: 20,
  /** Of one person, for one app. */
  reportViews: 200,
  reportViewsListed: 2_000,
  reportViewParameters: 50,
  reportViewParameterLength: 4_096,
  /** Fewer than there are connections for reports: slow readers never keep the reports waiting. */
  exportsAtOnce: 2,
  csvRows: 1_000_000,
  csvRowsAtOnce: 2_000,
  csvLineBytes: 64 * KIB,
  csvProblems: 10,
  /** Of a file that is only looked at. */
  previewRows: 50,
  previewProblems: 200,
  previewSums: 400,
  previewsAtOnce: 2,
  reportDays: 3_660,
  pageSize: 500,
  listRows: 10_000_000,
  timelineRows: 200,
  usersFound: 20,
  /** Of one connection: requests that were sent before those before them were answered. */
  requestsWaiting: 100,
  /** Handled in one turn of the event loop, but for the short ways of event collect and links. */
  requestsPerTurn: 8,
  /** Of a refused body, how much is read only to be thrown away. */
  unreadBytes: 64 * MIB,
  linkReplies: 1_000,
  signInFailures: 10_000,
  /** To be hashed, one after the other: of people who are known, and of strangers. */
  passwordsWaiting: 16,
  seenSessions: 1_000,
  auditListed: 200,
  auditDetailBytes: 4_096,
  /** In the audit log, of one hour: addresses with an entry of their own, and names in one entry. */
  failedSignInEntries: 50,
  failedSignInNames: 10,
  asaTokensAtOnce: 20,
  /** Of one account at the same time. */
  postbacksInFlight: 64,
  costPullsAtOnce: 4,
  costDeadlineMs: 30_000,
  costReplyBytes: 16 * MIB,
  /** Of one range of days. */
  costQuestions: 20_000,
  costRows: 500_000,
  /** So many days at most are pulled because somebody asks. */
  costDays: 366,
  /** So many days of pulls at most are shown at once. */
  pullDaysShown: 92,
  rulesPerApp: 200,
  propertyTestsPerRule: 20,
  postbacksListed: 1_000,
  postbacksAtOnce: 500,
  /** Named one by one, to be sent again. */
  postbacksSelected: 500,
  postbackReasons: 50,
  /** Of one call: what is left is taken by the next one. */
  postbacksResent: 50_000,
  dryRunUsersAtOnce: 500,
  /** Together with the exports fewer than there are connections for reports. */
  dryRunsAtOnce: 1,
  accountsPerApp: 500,
  accountValueBytes: 16 * KIB,
  callbackEvents: 200,
  addressLength: 2_000,
  spanUsersAtOnce: 200,
  applyTries: 3,
  /**
   * A process that is frozen or cut off within a transaction would keep its locks for ever, and apply and every other
   * sender would wait for them. After this time the database ends such a transaction; whoever wakes up begins it anew.
   */
  transactionIdleMs: 30_000,
  /** Decoded batches that may wait: enough that apply is never idle while there is something to read. */
  batchesReadAhead: 1,
  /** More findings are not worth sending back; all of them are in the journal and the ledger. */
  errorsListed: 1_000,
  sharedDevicesShown: 50,
  rememberedNames: 20_000,
  rememberedDays: 10_000,
  rememberedShapes: 16,
  rememberedShapeKeys: 100,
  rememberedTexts: 10_000,
  rememberedTextLength: 40,
} as const;
