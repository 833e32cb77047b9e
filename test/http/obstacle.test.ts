import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { ENDPOINTS, refresh } from "./endpoints.ts";
import { track } from "./fixture.ts";

describe("a server that is short of disk space", () => {
  let server: TouchpointProcess;
  let app: App;

  beforeAll(async () => {
    server = await TouchpointProcess.start({ env: { DISK_FREE_BYTES_MIN: "16384GiB" } });
    app = await server.createApp();
  });

  afterAll(async () => {
    await server.stop();
    await cleanUp(server.dataDir);
  });

  const journaled = ENDPOINTS.filter(({ path }) => /register|initialize/.test(path));
  test.each(journaled.map((endpoint) => [endpoint.path, endpoint] as const))(
    "%s refuses with 503, 5003 and Retry-After, in the envelope",
    async (path, endpoint) => {
      const { status, code, msg, data, extra, headers } = await server.post(
        `${path}/`,
        app,
        endpoint.call(app, "a").body,
      );
      expect({ status, code, data, extra }).toEqual({ status: 503, code: 5003, data: {}, extra: { error: msg } });
      expect(msg).toMatch(/disk/);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    },
  );

  test("is alive but not ready", async () => {
    expect(await server.get("/healthz")).toMatchObject({ status: 200, code: 0 });
    expect(await server.get("/readyz")).toMatchObject({ status: 503, code: 5003, data: {} });
  });

  test("still answers calls that need no journal", async () => {
    expect(await server.post("user/get/", app, { user_list: ["a"] })).toMatchObject({ status: 200, code: 0 });
    expect(await server.collect(app, "stranger", [track("e")])).toMatchObject({ status: 200, code: 2000 });
    expect(await server.post("base/wx/access_token/refresh/", app, refresh(app, "t"))).toMatchObject({ code: 0 });
  });

  test("an internal error is 500 and 5000 in the envelope, and reveals nothing of the inside", async () => {
    const pool = server.database();
    await pool.query("alter table media_token rename to media_token_gone");
    const { status, code, msg, data, extra } = await server.post(
      "base/wx/access_token/refresh/",
      app,
      refresh(app, "t"),
    );
    await pool.query("alter table media_token_gone rename to media_token");
    await pool.end();
    expect({ status, code, data, extra }).toEqual({ status: 500, code: 5000, data: {}, extra: { error: msg } });
    expect(msg).not.toMatch(/media_token|relation|sql/i);
  });
});

test("a server without an obstacle is ready", async () => {
  expect(await sharedServer().get("/readyz")).toMatchObject({ status: 200, code: 0, data: { status: "ready" } });
});
