import { closeSync, fdatasync, openSync, write } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { promisify } from "node:util";

/**
 * The least that a durable collector could do: parse the JSON, append the bytes, share one fdatasync among all waiting
 * requests, answer. The ratio shows everything that Touchpoint does beyond this.
 */
const writeFile = promisify(write);
const sync = promisify(fdatasync);
const fd = openSync(process.argv[2]!, "w");
const ANSWER = JSON.stringify({ code: 0, msg: "success", data: {}, extra: {} });

let waiting: { bytes: Buffer; response: ServerResponse }[] = [];
let isFlushing = false;

const server = createServer((request, response) => {
  if (request.method === "GET") return takeLink(request.url ?? "", response);
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    const body = JSON.parse(bytes.toString("utf8")) as { event_list: unknown[] };
    if (!Array.isArray(body.event_list)) throw new Error("The generator sends lists.");
    append(bytes, response);
  });
});

function takeLink(url: string, response: ServerResponse): void {
  const query = url.slice(url.indexOf("?") + 1);
  if (!new URLSearchParams(query).has("app_id")) throw new Error("The generator names an app.");
  append(Buffer.from(query, "latin1"), response);
}

function append(bytes: Buffer, response: ServerResponse): void {
  waiting.push({ bytes, response });
  if (isFlushing) return;
  isFlushing = true;
  setImmediate(flush);
}

async function flush(): Promise<void> {
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    await writeFile(fd, Buffer.concat(group.map(({ bytes }) => bytes)));
    await sync(fd);
    for (const { response } of group) {
      response.writeHead(200, { "content-type": "application/json; charset=utf-8", "content-length": ANSWER.length });
      response.end(ANSWER);
    }
  }
  isFlushing = false;
}

server.keepAliveTimeout = 75_000;
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as { port: number }).port}`));
process.on("SIGTERM", () => {
  closeSync(fd);
  process.exit(0);
});
