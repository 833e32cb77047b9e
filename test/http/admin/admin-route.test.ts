import Fastify, { type FastifyInstance, type RouteOptions } from "fastify";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { envelopeSchema } from "../../../src/contract/envelope.ts";
import { routeValidatorOf } from "../../../src/contract/validation.ts";
import { ApiError } from "../../../src/errors.ts";
import { adminRoute, adminStreamRoute } from "../../../src/http/admin/admin-route.ts";

const answer = envelopeSchema(Type.Object({ doubled: Type.Integer() }));
const body = Type.Object({ number: Type.Integer() });
const query = Type.Object({ number: Type.String() });

function serverWith(declare: (server: FastifyInstance) => void) {
  const routes: RouteOptions[] = [];
  const server = Fastify();
  server.setValidatorCompiler(({ schema }) => routeValidatorOf(schema as object));
  server.setSerializerCompiler(() => JSON.stringify);
  server.addHook("onRoute", (route) => void routes.push(route));
  declare(server);
  return { server, routes };
}

test("an operation with a body is a POST, any other a GET, and both answer in the envelope", async () => {
  const { server } = serverWith((routes) => {
    const about = { path: "double", summary: "Twice a number", answer };
    adminRoute(routes, {
      ...about,
      access: "report",
      apps: "some",
      query,
      run: async (call) => ({ doubled: 2 * Number(call.query.number) }),
    });
    adminRoute(routes, {
      ...about,
      access: "setting",
      apps: "all",
      body,
      run: async (call) => ({ doubled: 2 * call.body.number }),
    });
  });
  const url = "/admin/api/v1/double";
  const got = await server.inject({ method: "GET", url: `${url}?number=4` });
  expect(got.json()).toEqual({ code: 0, msg: "success", data: { doubled: 8 }, extra: {} });
  const posted = await server.inject({ method: "POST", url, payload: { number: 5 } });
  expect(posted.json().data).toEqual({ doubled: 10 });
  expect((await server.inject({ method: "POST", url, payload: { number: "five" } })).statusCode).toBe(400);
});

test("hooks see what an operation declares: its callers and how its body is read", () => {
  const { routes } = serverWith((server) => {
    const reading = { bytesMax: 100, numbersAreIds: true } as const;
    const run = async () => ({ doubled: 0 });
    adminRoute(server, { path: "double", summary: "Twice", access: "own", body, reading, answer, run });
  });
  const config = { access: "own", numbersAreIds: true };
  expect(routes).toMatchObject([{ method: "POST", bodyLimit: 100, config }]);
});

test("a call that is not admitted never runs", async () => {
  let runs = 0;
  const { server } = serverWith((routes) => {
    const admit = () => {
      throw new ApiError("badSign", "Not from here.");
    };
    const run = async () => {
      runs += 1;
      return { doubled: runs };
    };
    adminRoute(routes, { path: "double", method: "POST", summary: "Twice", access: "open", admit, answer, run });
  });
  await server.inject({ method: "POST", url: "/admin/api/v1/double" });
  expect(runs).toBe(0);
});

test("a stream has no HEAD, which would wait for its end", () => {
  const { routes } = serverWith((server) => {
    adminStreamRoute(server, {
      path: "stream",
      summary: "All",
      access: "report",
      apps: "some",
      query,
      send: async ({ reply }) => reply,
    });
  });
  expect(routes.map(({ method }) => method)).toEqual(["GET"]);
});

test("an operation for one app must be able to name it", () => {
  const declare = (routes: FastifyInstance) => {
    const run = async () => ({ doubled: 0 });
    adminRoute(routes, { path: "double", summary: "Twice", access: "operate", body, answer, run });
  };
  expect(() => serverWith(declare)).toThrow(/double is for one app/);
});
