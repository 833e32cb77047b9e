import type { IncomingMessage, ServerResponse } from "node:http";

/** What is called for each request, as node:http hands it over. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;
