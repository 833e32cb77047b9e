import { hostname } from "node:os";
import { inspect } from "node:util";
import { createFirstApp } from "./admin/apps.ts";
import type { Desk } from "./admin/desk.ts";
import { linkFirstAdmin } from "./admin/session/people.ts";
import { systemClock } from "./clock.ts";
import { configFromEnvironment } from "./config.ts";
import { countAdmins } from "./db/admin-user.ts";
import type { App } from "./db/app.ts";
import { messageOf, UsageError } from "./errors.ts";
import { greeting, outerAddressesOf, type Started } from "./greeting.ts";
import { createLog, standardOutput } from "./log.ts";
import { type Running, serve } from "./serve.ts";
import { withModuleNames } from "./stack-names.ts";

/** Longer than all stages of an orderly stop together (see serve.ts). */
const STOP_MS_MAX = 7_700;

void run();

/** `npm start`: runs until it is stopped. SIGTERM and Ctrl-C stop it cleanly; a second signal does not hurry it. */
async function run(): Promise<void> {
  try {
    const config = configFromEnvironment();
    const log = createLog(config.logLevel);
    // A stop during the start waits until the start is complete, so that everything stops in order.
    const starting = serve(config, log);
    let isStopping = false;
    const stop = () => {
      if (isStopping) return;
      isStopping = true;
      // Whatever hangs, in a start as well: what was acknowledged is on the disk.
      setTimeout(() => {
        log.warn("The server did not stop in time; it ends now.");
        process.exit(0);
      }, STOP_MS_MAX);
      starting
        .then((running) => running.stop())
        .then(
          () => process.exit(0),
          (error) => {
            log.fatal({ err: error }, "The server did not stop cleanly.");
            process.exit(1);
          },
        );
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
    const running = await starting;
    process.on("unhandledRejection", (error) => log.error({ err: error }, "A failure was not handled."));
    const { address } = running;
    // Output that is not a terminal may go to a file or a log collector.
    const showsSecrets = config.printSecrets === "always" || process.stdout.isTTY;
    const missing = running.missing();
    const isOpen = !isStopping && missing === undefined;
    const demo = isOpen && config.demoApp ? await makeDemoApp(running) : undefined;
    const admin = isOpen ? await adminOf(running, showsSecrets) : ({ kind: "there" } as const);
    const reachedAt = config.roles.has("http") ? outerAddressesOf(config.host, address) : [];
    const said = greeting({ address, dataDir: config.dataDir, admin, demo, missing, showsSecrets, reachedAt });
    standardOutput.write(`${said}\n`);
  } catch (error) {
    console.error(error instanceof UsageError ? error.message : `The server could not start: ${messageOf(error)}`);
    if (!(error instanceof UsageError)) console.error(withModuleNames(inspect(error)));
    process.exit(1);
  }
}

/** Creates the demo app on the very first start. */
async function makeDemoApp(running: Running): Promise<App | undefined> {
  return createFirstApp(deskOf(running), { name: "Demo" });
}

/** Whether an admin exists. Until then, every start offers a setup link. */
async function adminOf(running: Running, showsSecrets: boolean): Promise<Started["admin"]> {
  if ((await countAdmins(running.database.pool)) > 0) return { kind: "there" };
  if (!showsSecrets) return { kind: "missing", setupLink: undefined };
  const token = await linkFirstAdmin(deskOf(running));
  return { kind: "missing", setupLink: `${running.address}/console/setup#${token}` };
}

function deskOf({ database, vault }: Running): Desk {
  return { pool: database.pool, vault, clock: systemClock, by: { name: "first start", address: hostname() } };
}
