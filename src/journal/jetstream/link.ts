import { readFileSync } from "node:fs";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, credsAuthenticator, type NatsConnection } from "@nats-io/transport-node";
import type { JetStreamAddress } from "./address.ts";

/** How long an answer about a stream may take. */
const API_MS = 2_000;
/** A frozen server lets itself be connected to and says nothing: after this long another one is tried. */
const CONNECT_MS = 5_000;
/** A server that is silent for so long is left for another one. */
const PING = { pingInterval: 1_000, maxPingOut: 2 } as const;
const RECONNECT_MS = 250;

/** A connection that finds a server again whenever it is lost. */
export type Link = { connection: NatsConnection; manager: JetStreamManager };

export async function openLink({ servers, user, password, token, tls, creds }: JetStreamAddress): Promise<Link> {
  const connection = await connect({
    servers: [...servers],
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    ...(token !== undefined && { token }),
    ...(creds !== undefined && { authenticator: credsAuthenticator(readFileSync(creds)) }),
    ...(tls && { tls: filesOf(tls) }),
    ...PING,
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    // A stack for each request costs more than the request.
    noAsyncTraces: true,
  });
  try {
    return { connection, manager: await jetstreamManager(connection, { timeout: API_MS, checkAPI: false }) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function filesOf({ ca, cert, key }: NonNullable<JetStreamAddress["tls"]>) {
  return { ...(ca && { caFile: ca }), ...(cert && { certFile: cert }), ...(key && { keyFile: key }) };
}
