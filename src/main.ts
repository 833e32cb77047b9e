import { systemClock } from "./clock.ts";
import { configFromEnvironment } from "./config.ts";
import { countAdmins, createSetupLink } from "./db/admin-user.ts";
import { type App, createApp, loadApps } from "./db/app.ts";
import { messageOf, UsageError } from "./errors.ts";
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
  const demo = isStopping ? undefined : await makeDemoApp(running);
  const setupLink = isStopping ? undefined : await makeSetupLink(running);
  const { address } = running;
  const lines = [
    `Touchpoint is ready at ${address} (console: ${address}/console/, API: ${address}/docs)`,
    ...(setupLink ? [`\nSet the admin password of the console (one use, within a day):\n  ${setupLink}`] : []),
    ...(demo ? [greeting(demo, address)] : []),
  ];
  console.log(lines.join("\n"));
} catch (error) {
  console.error(error instanceof UsageError ? error.message : `The server could not start: ${messageOf(error)}`);
  if (!(error instanceof UsageError)) console.error(error);
  process.exit(1);
}

/** On the very first start there is an app to try things with, from the moment the server is ready. */
async function makeDemoApp({ database, vault }: Running): Promise<App | undefined> {
  if ((await loadApps(database.pool, vault)).length > 0) return undefined;
  return createApp(database.pool, vault, {
    name: "Demo",
    timeZone: "Asia/Shanghai",
    metadataMode: "open",
    createdAtMs: systemClock(),
  });
}

/** As long as nobody can sign in, every start offers the way in. */
async function makeSetupLink({ database, address }: Running): Promise<string | undefined> {
  if ((await countAdmins(database.pool)) > 0) return undefined;
  return `${address}/console/setup#${await createSetupLink(database.pool, { userId: null, nowMs: systemClock() })}`;
}

function greeting(app: App, address: string): string {
  const base = `${address}/event_center/api/v1`;
  const registration = `{"client_id":"player-1","name":"Player One","channel":"demo","version":1}`;
  const event = `{"client_id":"player-1","event_list":[{"type":"track","event":"$PayEvent","time":'$(date +%s000)',"properties":{"$pay_amount":600,"$pay_type":"CNY","$order_id":"order-1"}}]}`;
  return `
A demo app is ready:
  app_id        ${app.appId}
  access_token  ${app.accessToken}
  app_key       ${app.appKey}
  aes_key       ${app.aesKey}

Register a player, send a payment, look the player up:
  curl '${base}/user/register/?access_token=${app.accessToken}' -d '${registration}'
  curl '${base}/event/collect/?access_token=${app.accessToken}' -d '${event}'
  curl '${base}/user/get/?access_token=${app.accessToken}&client_id=player-1'
`;
}
