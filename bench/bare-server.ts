import { closeSync, fdatasync, openSync, write } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { promisify } from "node:util";

/**
 * The least that a durable collector could do: parse the JSON, append the bytes, share one fdatasync among whoever
 * waits, answer. Everything that Touchpoint does beyond this is what the ratio shows.
 */
const writeFile = promisify(write);
const sync = promisify(fdatasync);
const fd = openSync(process.argv[2]!, "w");
const ANSWER = JSON.stringify({ code: 0, msg: "success", data: {}, extra: {} });

let waiting: { bytes: Buffer; response: ServerResponse }[] = [];
let isFlushing = false;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    const body = JSON.parse(bytes.toString("utf8")) as { event_list: unknown[] };
    if (!Array.isArray(body.event_list)) throw new Error("The generator sends lists.");
    waiting.push({ bytes, response });
    if (!isFlushing) {
      isFlushing = true;
      setImmediate(flush);
    }
  });
});

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
