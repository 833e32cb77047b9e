import { expect, test } from "vitest";
import { createDatabase } from "../db/temp-database.ts";
import { Nats } from "../journal/jetstream/nats.ts";
import { Cluster } from "./cluster.ts";

test("nodes that start at the same time on an empty database make its tables and one demo app together", async () => {
  const nats = await Nats.start(1);
  const cluster = new Cluster(await createDatabase(), nats, { DEMO_APP: "on" });
  try {
    const nodes = await cluster.add("http", "http,apply", "apply,refresh,postback");
    const { rows } = await cluster.pool.query("select count(*)::int as apps from app");
    expect(rows).toEqual([{ apps: 1 }]);
    const told = nodes.filter(({ server }) => /access_token/.test(server.output));
    expect(told).toHaveLength(1);
  } finally {
    await cluster.stop();
    await nats.stop();
  }
});
