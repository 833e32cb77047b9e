import type { Fault, Trouble } from "../fault.ts";
import { DISK_FREE_BYTES_MIN } from "../site.ts";
import { until } from "../until.ts";

const MORE_THAN_ANY_DISK = "16384GiB";
const REFUSALS = 20;
/** A limit of half a kibibyte: a longer write stops there and the rest fails, as on a full disk. */
const FILES_CANNOT_GROW = "ulimit -f 1";

/** Below the minimum the server refuses by itself, while the disk still has space. */
const short: Fault = {
  name: "disk_short",
  what: "less space is free than the set minimum: new data is refused with 503 before anything breaks",
  kind: "other",
  at: "external",
  refuses: "yes",
  async inflict(trouble) {
    const { site } = trouble;
    noteStandIn(trouble);
    if (site.disk) site.disk.fill(DISK_FREE_BYTES_MIN / 2);
    else await restart(trouble, { env: { DISK_FREE_BYTES_MIN: MORE_THAN_ANY_DISK } });
    await refuses(trouble);
    await readsGoOn(trouble);
  },
  async mend(trouble) {
    if (trouble.site.disk) trouble.site.disk.free();
    else await restart(trouble);
    await takesInAgain(trouble);
  },
};

/** No check comes first: the write itself fails. */
const full: Fault = {
  name: "disk_full",
  what: "there is no space at all: a write of the journal fails in the middle",
  kind: "other",
  at: "external",
  refuses: "yes",
  async inflict(trouble) {
    const { site } = trouble;
    const unwatched = { DISK_FREE_BYTES_MIN: "0" };
    noteStandIn(trouble);
    await restart(trouble, { env: unwatched, ...(!site.disk && { before: FILES_CANNOT_GROW }) });
    if (site.disk) {
      await site.flows(REFUSALS);
      site.disk.fill();
    }
    await refuses(trouble);
  },
  async mend(trouble) {
    const { site } = trouble;
    site.disk?.free();
    if (site.disk) await takesInAgain(trouble);
    await restart(trouble);
  },
};

function noteStandIn({ site, findings }: Trouble): void {
  if (!site.disk)
    findings.notes.push("Nothing can be mounted here: a limit on the size of files stands for the small disk.");
}

async function restart({ site }: Trouble, how: Parameters<Trouble["site"]["startServer"]>[0] = {}): Promise<void> {
  await site.server.kill();
  await site.startServer(how);
}

/** Checks that every client is told to try again with the right code, and that the server survives. */
async function refuses({ site, findings }: Trouble): Promise<void> {
  const before = site.truth.counts.putOff;
  await until("clients are told to try again", () => site.truth.counts.putOff >= before + REFUSALS);
  const { accessToken } = site.operator.app;
  // Large enough to exceed the little space that a file system may still find.
  const event_list = Array.from({ length: 500 }, () => ({
    type: "track",
    event: "refused",
    time: site.nowMs(),
    properties: {},
  }));
  const client_id = site.truth.people[0]!.clientId;
  const response = await fetch(`${site.url}/event_center/api/v1/event/collect/?access_token=${accessToken}`, {
    method: "POST",
    body: JSON.stringify({ client_id, event_list }),
  });
  const { code, data } = (await response.json()) as { code: number; data: object };
  findings.equal(5, "the answer while the disk is short", {
    is: [response.status, code, data, Number(response.headers.get("retry-after")) > 0],
    should: [503, 5003, {}, true],
  });
  findings.hold(5, site.server.isRunning, "the server has ended");
}

/** Checks that calls that need no space are answered. */
async function readsGoOn({ site, findings }: Trouble): Promise<void> {
  const client_id = site.truth.people[0]!.clientId;
  const query = new URLSearchParams({ access_token: site.operator.app.accessToken, client_id });
  const response = await fetch(`${site.url}/event_center/api/v1/user/get/?${query}`);
  const { code } = (await response.json()) as { code: number };
  findings.equal(5, "a look-up while the disk is short", { is: [response.status, code], should: [200, 0] });
  const ready = await fetch(`${site.url}/readyz`);
  findings.equal(5, "whether the server says so itself", { is: ready.status, should: 503 });
}

function takesInAgain({ site }: Trouble): Promise<void> {
  return site.flows(REFUSALS);
}

export const DISK_FAULTS: readonly Fault[] = [short, full];
