import { adminToken } from "../../../src/admin/session/admin-token.ts";
import { openVault } from "../../../src/vault.ts";
import { fuzz, oneOfEach } from "../../fuzz/fuzz.ts";
import { FUZZ_CLIENTS, fuzzWorld } from "../../fuzz/world.ts";
import type { Fault } from "../fault.ts";
import { Guest } from "../guest.ts";

const SECONDS = { short: 2, long: 12 };
/** The long form sends each operation with each kind of damage at least once, however long that takes. */
const REQUESTS_MIN = { short: 100, long: "each" } as const;

const fuzzed: Fault = {
  name: "fuzz",
  what: "requests with one thing wrong, and random bytes, at every endpoint of the OpenAPI file",
  kind: "other",
  at: "embedded",
  async inflict({ site, findings, random, form }) {
    const guest = await Guest.invite(site);
    await Promise.all(FUZZ_CLIENTS.map((clientId) => guest.register(clientId)));
    const { app, appKey, developers } = guest;
    const vault = openVault({ dataDir: site.dataDir, secretKey: "" });
    const world = fuzzWorld({ app, appKey, adminToken: adminToken(vault), developers });
    const seed = random.whole(1, 2 ** 31);
    const { faults } = await fuzz({
      url: site.url,
      world,
      seed,
      seconds: SECONDS[form],
      requestsMin: REQUESTS_MIN[form],
    });
    findings.none(8, `answers were wrong (seed ${seed})`, oneOfEach(faults));
  },
  async mend() {},
};

export const FUZZ_FAULTS: readonly Fault[] = [fuzzed];
