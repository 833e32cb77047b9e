import { once } from "node:events";
import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { answersIn } from "../../security/socket.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

let disabled: App;
beforeAll(async () => {
  disabled = await server.createApp();
  await tables.changeSettings("update app set enabled = false where app_id = $1", [disabled.appId]);
  const ask = async () => expect((await server.collect(disabled, "a", [{}])).msg).toMatch(/disabled/);
  await eventually(ask);
});

/** The answer to the head of a request whose body never comes. */
async function answerToHead(path: string, headers: string): Promise<{ status: number; code: number }> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`);
  let heard = "";
  for await (const chunk of socket) {
    heard += chunk;
    const [answer] = answersIn(heard);
    if (answer && answer.body !== "") {
      socket.destroy();
      return { status: answer.status, code: JSON.parse(answer.body).code };
    }
  }
  throw new Error(`The connection was closed after ${JSON.stringify(heard)}.`);
}

const COLLECT = "event/collect";
/** Goes through the framework, which decodes the address. */
const SPELLED_OUT = "event/c%6fllect";

describe("the token is checked before the body arrives:", () => {
  const tokens = { unknown: () => "nobody", missing: () => "", disabled: () => disabled.accessToken };
  const paths = [COLLECT, SPELLED_OUT, "eventv2/collect", "user/register"];
  const cases = paths.flatMap((path) => Object.entries(tokens).map(([what, token]) => [what, path, token] as const));
  test.each(cases)("%s at %s", async (_, path, token) => {
    const address = `${BASE}/${path}/?access_token=${token()}`;
    expect(await answerToHead(address, "content-length: 1000000")).toEqual({ status: 200, code: 2001 });
    expect(await answerToHead(address, "transfer-encoding: chunked")).toEqual({ status: 200, code: 2001 });
  });
});
