import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type HeldCall = { method: string; target: string; headers: IncomingMessage["headers"]; body: string };
export type GateAnswer = { status: number; body?: string; headers?: Record<string, string> };

/** A server that holds every call until the test gives the answer. */
export class Gate {
  readonly calls: HeldCall[] = [];
  readonly url: string;
  readonly #waiting: ServerResponse[] = [];
  readonly #server;
  /** The immediate answer, if there is one. */
  answer: GateAnswer | undefined;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () => {
        this.calls.push({ method: request.method!, target: request.url!, headers: request.headers, body });
        this.#waiting.push(response);
        if (this.answer) this.release(this.answer);
      });
    });
  }

  static async open(): Promise<Gate> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Gate(server);
  }

  /** Answers the longest-waiting call. */
  release({ status, body = "{}", headers = {} }: GateAnswer): void {
    this.#waiting
      .shift()
      ?.writeHead(status, { "content-type": "application/json", ...headers })
      .end(body);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
