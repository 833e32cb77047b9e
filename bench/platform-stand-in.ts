import { startOceanEngine } from "../sim/platforms/ocean-engine.ts";

/** Ocean Engine's stand-in in its own process. It judges every call as strictly as in the tests. */
const standIn = await startOceanEngine();
console.log(`port ${new URL(standIn.url).port}`);
process.on("SIGTERM", () => {
  if (standIn.refused.length > 0) console.error(`${standIn.refused.length} calls were refused.`, standIn.refused[0]);
  process.exit(standIn.refused.length > 0 ? 1 : 0);
});
