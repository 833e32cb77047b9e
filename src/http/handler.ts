import type { IncomingMessage, ServerResponse } from "node:http";

/** Handles one request of node:http. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;
