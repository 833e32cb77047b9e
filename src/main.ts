import { hostname } from "node:os";
import { createApp } from "./admin/apps.ts";
import type { Desk } from "./admin/desk.ts";
import { linkFirstAdmin } from "./admin/people.ts";
import { systemClock } from "./clock.ts";
import { configFromEnvironment } from "./config.ts";
import { countAdmins } from "./db/admin-user.ts";
import { type App, loadApps } from "./db/app.ts";
import { messageOf, UsageError } from "./errors.ts";
import { greeting, outerAddressesOf, type Started } from "./greeting.ts";
import { createLog } from "./log.ts";
import { type Running, serve } from "./serve.ts";

/** `npm start`: runs until told to stop. SIGTERM and Ctrl-C stop it cleanly; a second one does not hurry it. */
try {
  const config = configFromEnvironment();
  const log = createLog(config.logLevel);
  // Told to stop while it starts, it first becomes whole: only then can everything be stopped in order.
  const starting = serve(config, log);
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
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
  // What is not a terminal may be a file that is kept, or a collector of logs.
  const showsSecrets = config.printSecrets === "always" || process.stdout.isTTY;
  const demo = isStopping || !config.demoApp ? undefined : await makeDemoApp(running);
  const admin = isStopping ? ({ kind: "there" } as const) : await adminOf(running, showsSecrets);
  const reachedAt = config.roles.has("http") ? outerAddressesOf(config.host, address) : [];
  console.log(greeting({ address, admin, demo, showsSecrets, reachedAt }));
} catch (error) {
  console.error(error instanceof UsageError ? error.message : `The server could not start: ${messageOf(error)}`);
  if (!(error instanceof UsageError)) console.error(error);
  process.exit(1);
}

/** On the very first start there is an app to try things with, from the moment the server is ready. */
async function makeDemoApp(running: Running): Promise<App | undefined> {
  if ((await loadApps(running.database.pool, running.vault)).length > 0) return undefined;
  return createApp(deskOf(running), { name: "Demo" });
}

/** As long as nobody can sign in, every start offers the way in. */
async function adminOf(running: Running, showsSecrets: boolean): Promise<Started["admin"]> {
  if ((await countAdmins(running.database.pool)) > 0) return { kind: "there" };
  if (!showsSecrets) return { kind: "missing", setupLink: undefined };
  const token = await linkFirstAdmin(deskOf(running));
  return { kind: "missing", setupLink: `${running.address}/console/setup#${token}` };
}

function deskOf({ database, vault }: Running): Desk {
  return { pool: database.pool, vault, clock: systemClock, by: { name: "first start", address: hostname() } };
}
