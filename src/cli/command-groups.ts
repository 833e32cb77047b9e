import type { Command } from "commander";

/** Adds its commands to the program. `whole` makes the program with all commands. */
export type Commands = (program: Command, whole: () => Promise<Command>) => void;

export type CommandGroup = {
  /** The terms and descriptions of the commands, as the main help lists them. */
  commands: Readonly<Record<string, string>>;
  load: () => Promise<Commands>;
};

/**
 * Every command and the file that has it, in the order of the main help. Only the requested file is loaded: all of them
 * together take four times as long. The main help needs none, so it repeats here what their files say; a test compares
 * both.
 */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    commands: {
      serve: "Run the server until it is stopped; HOST, PORT, DATA_DIR and the other settings as in docs/OPERATIONS.md",
    },
    load: async () => (await import("./operation/serve-command.ts")).serveCommand,
  },
  {
    commands: {
      app: "Apps and their tokens",
    },
    load: async () => (await import("./setting/app-commands.ts")).appCommands,
  },
  {
    commands: {
      user: "Users",
    },
    load: async () => (await import("./report/user-commands.ts")).userCommands,
  },
  {
    commands: {
      campaign: "Promotion campaigns and their monitoring links",
    },
    load: async () => (await import("./setting/campaign-commands.ts")).campaignCommands,
  },
  {
    commands: {
      cost: "Costs of ads",
      advertiser: "Accounts at the ad platforms",
      "ad-object": "Names of plans, ads and creatives",
    },
    load: async () => (await import("./operation/cost-commands.ts")).costCommands,
  },
  {
    commands: {
      account: "Accounts at ad platforms, used to send postbacks and pull costs",
    },
    load: async () => (await import("./setting/account-commands.ts")).accountCommands,
  },
  {
    commands: {
      connector: "How platforms without a connector of their own take postbacks, declared as JSON",
    },
    load: async () => (await import("./setting/connector-commands.ts")).connectorCommands,
  },
  {
    commands: {
      "ad-revenue [options]":
        "Compare what platforms say that ad units earned with what the reports count, by day and unit",
    },
    load: async () => (await import("./report/ad-revenue-command.ts")).adRevenueCommand,
  },
  {
    commands: {
      ecpm: "eCPMs of ad units, for ads whose clients do not know what they earn",
    },
    load: async () => (await import("./setting/ecpm-commands.ts")).ecpmCommands,
  },
  {
    commands: {
      rebate: "Rebates of accounts, for the cost that was really paid",
    },
    load: async () => (await import("./setting/rebate-commands.ts")).rebateCommands,
  },
  {
    commands: {
      refund: "Refunds of orders",
    },
    load: async () => (await import("./operation/refund-commands.ts")).refundCommands,
  },
  {
    commands: {
      share: "Share rules: what is left of payments after the store's cut",
    },
    load: async () => (await import("./setting/share-commands.ts")).shareCommands,
  },
  {
    commands: {
      postback: "Postbacks: conversions reported to ad platforms",
    },
    load: async () => (await import("./operation/postback-commands.ts")).postbackCommands,
  },
  {
    commands: {
      callback: "Callbacks to an app's own systems",
    },
    load: async () => (await import("./setting/callback-commands.ts")).callbackCommands,
  },
  {
    commands: {
      rules: "Attribution rules, per app and per platform",
      "why [options] <client>":
        "Explain why a user belongs to an ad platform, or to none: every candidate, and why it won or lost",
      "what-if [options]": "Decide the registrations of some days again under other rules, without changing anything",
      "fraud [options]": "Show signs of fraud: flags on decisions, ads with too even gaps, devices with many clients",
    },
    load: async () => (await import("./setting/attribution-commands.ts")).attributionCommands,
  },
  {
    commands: {
      admin: "The admin interface and the people of the console",
    },
    load: async () => (await import("./setting/admin-commands.ts")).adminCommands,
  },
  {
    commands: {
      developer: "Developer applications, which pull reports",
    },
    load: async () => (await import("./setting/developer-commands.ts")).developerCommands,
  },
  {
    commands: {
      metadata: "Events and properties: observed, declared, disabled",
    },
    load: async () => (await import("./setting/metadata-commands.ts")).metadataCommands,
  },
  {
    commands: {
      "ledger [options]": "Show what was received and what became of it, minute by minute (default: the last 7 days)",
    },
    load: async () => (await import("./report/ledger-command.ts")).ledgerCommand,
  },
  {
    commands: {
      "import [options] <file>":
        "Import past events from a file: one event per line, as `export events` writes them, of any time",
    },
    load: async () => (await import("./operation/import-command.ts")).importCommand,
  },
  {
    commands: {
      export: "Write stored data to standard output, from one snapshot",
    },
    load: async () => (await import("./report/export-command.ts")).exportCommand,
  },
  {
    commands: {
      report: "Pull a report as a developer application",
    },
    load: async () => (await import("./report/report-commands.ts")).reportCommands,
  },
  {
    commands: {
      "explain [options]": "Explain a number of the ad report: the users, orders and costs that add up to it",
    },
    load: async () => (await import("./report/explain-command.ts")).explainCommand,
  },
  {
    commands: {
      journal: "The append-only log of everything acknowledged",
    },
    load: async () => (await import("./operation/journal-commands.ts")).journalCommands,
  },
  {
    commands: {
      "backup [options] <dir>":
        "Back up tables, journal and the key's fingerprint into a new folder; the server may run or not",
      "restore [options] <dir>":
        "Restore a backup into an empty DATA_DIR or database, or beside the journal that continues it",
    },
    load: async () => (await import("./operation/backup-commands.ts")).backupCommands,
  },
  {
    commands: {
      secret: "The key that encrypts every secret in the database",
    },
    load: async () => (await import("./setting/secret-commands.ts")).secretCommands,
  },
  {
    commands: {
      database: "The tables: their version, and where they are",
    },
    load: async () => (await import("./operation/database-commands.ts")).databaseCommands,
  },
  {
    commands: {
      ask: "Ask about events: how many, by what, in which order, who came back",
      "sql [options] <statement>": "Query the events, users, orders and costs of an app, in the SQL of DuckDB",
    },
    load: async () => (await import("./report/ask-commands.ts")).askCommands,
  },
  {
    commands: {
      segments: "Saved segments: users by what they did and who they are",
    },
    load: async () => (await import("./report/segment-commands.ts")).segmentCommands,
  },
  {
    commands: {
      lake: "Events, users, orders and costs in columns (docs/LAKE.md)",
    },
    load: async () => (await import("./operation/lake-commands.ts")).lakeCommands,
  },
  {
    commands: {
      cluster: "The processes of this installation",
    },
    load: async () => (await import("./operation/cluster-commands.ts")).clusterCommands,
  },
  {
    commands: {
      "settle [options]": "Wait until everything acknowledged before this call is in the tables and in the reports",
    },
    load: async () => (await import("./operation/settle-command.ts")).settleCommand,
  },
  {
    commands: {
      docs: "Documentation generated from the program",
    },
    load: async () => (await import("./report/docs-command.ts")).docsCommand,
  },
  {
    commands: {
      "completion <shell>": "Print a script with which a shell completes commands, options and their values",
    },
    load: async () => (await import("./completion/completion-command.ts")).completionCommand,
  },
];
