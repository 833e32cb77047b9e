import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { touchQuery } from "../../contract/collect/touch.ts";
import { emptyData, envelopeSchema } from "../../contract/envelope.ts";
import { TOUCH_KINDS } from "../../domain/attribution/touch.ts";
import { JSON_TYPE } from "../answer.ts";
import { type CallerAddress, callerOf, userAgentOf } from "../caller-address.ts";
import { acceptTouch, type TouchContext } from "./touch.ts";

/** Describes the monitoring links, and serves the calls that the fast path passes on. */
export function touchRoutes(server: FastifyInstance, context: TouchContext & { caller: CallerAddress }): void {
  for (const kind of TOUCH_KINDS) {
    server.get(`/event_center/api/v1/event/${kind}`, {
      // A HEAD request only checks that the link works: it is not a touch.
      exposeHeadRoute: false,
      schema: {
        summary: kind === "click" ? "Click" : "Impression",
        description:
          "Monitoring link, called by the ad platforms' servers. `npm run -s cli -- campaign link` prints it.",
        tags: ["monitoring links"],
        querystring: touchQuery,
        response: { 200: envelopeSchema(emptyData) },
      },
      config: { endpoint: `event/${kind}` },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const { url } = request;
        const answer = await acceptTouch(context, {
          kind,
          url,
          host: request.headers.host ?? "",
          query: url.split("?").slice(1).join("?"),
          body: undefined,
          ip: callerOf(context, request),
          ua: userAgentOf(request),
        });
        return reply.type(JSON_TYPE).send(answer);
      },
    });
  }
}
