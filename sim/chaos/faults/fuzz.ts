import { adminToken } from "../../../src/http/admin.ts";
import { openVault } from "../../../src/vault.ts";
import { fuzz, oneOfEach } from "../../fuzz/fuzz.ts";
import { FUZZ_CLIENTS, fuzzWorld } from "../../fuzz/world.ts";
import type { Fault } from "../fault.ts";
import { Guest } from "../guest.ts";

const SECONDS = { short: 3, long: 12 };

const fuzzed: Fault = {
  name: "fuzz",
  what: "requests with one thing wrong, and random bytes, at every endpoint of the OpenAPI file",
  ...{ kind: "other", at: "embedded" },
  async inflict({ place, findings, random, form }) {
    const guest = await Guest.invite(place);
    for (const clientId of FUZZ_CLIENTS) await guest.register(clientId);
    const { app, appKey, developers } = guest;
    const vault = openVault({ dataDir: place.dataDir, secretKey: "" });
    const world = fuzzWorld({ app, appKey, adminToken: adminToken(vault), developers });
    const seed = random.whole(1, 2 ** 31);
    const { requests, faults } = await fuzz({ url: place.url, world, seed, seconds: SECONDS[form] });
    findings.hold(8, requests > 100, `only ${requests} requests were made`);
    findings.none(8, `answers were wrong (seed ${seed})`, oneOfEach(faults));
  },
  async mend() {},
};

export const FUZZ_FAULTS: readonly Fault[] = [fuzzed];
