import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { embeddedConnection } from "../../../src/db/engine/embedded-role.ts";
import { openPool } from "../../../src/db/engine/pool.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { log } from "../temp-database.ts";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** "The server stops", as PostgreSQL says it on every connection. */
const FAREWELL = messageOf("E", "SFATAL\0C57P01\0Mterminating connection\0\0");

function messageOf(kind: string, content: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(4 + content.length, 1);
  return Buffer.concat([head, Buffer.from(content)]);
}

test("a connection that dies just as it passes to the next user ends no process", async () => {
  const own = embeddedConnection(sharedServer().dataDir);
  if (own?.kind !== "local") throw new Error("The shared server has no database of its own.");
  let isDying = false;
  const line = createServer((near) => {
    const far = connect(join(own.host, `.s.PGSQL.${own.port}`));
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on("error", () => {});
    near.pipe(far);
    // The farewell arrives in one piece with the answer, before anybody could listen for it.
    far.on("data", (piece) => near.write(isDying ? Buffer.concat([piece, FAREWELL]) : piece));
  }).listen(0, "127.0.0.1");
  await once(line, "listening");
  const { user, password, database } = own;
  const { port } = line.address() as AddressInfo;
  const url = `postgres://${user}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
  const pool = openPool({ kind: "url", url, sessions: "own" }, { log, connectionsMax: 1, name: "test" });
  try {
    await pool.query("select 1");
    isDying = true;
    const [one, two] = await Promise.allSettled([pool.query("select 1"), pool.query("select 2")]);
    isDying = false;
    expect([one!.status, two!.status]).toEqual(["fulfilled", "rejected"]);
    expect((await pool.query("select 3 as three")).rows).toEqual([{ three: 3 }]);
  } finally {
    await pool.end();
    line.close();
  }
});
