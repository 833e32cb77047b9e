// Asks the registry for known vulnerabilities in the server's dependencies. A vulnerability fails; an unreachable registry
// does not, but the output says that nothing was checked.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const WAIT_MS_MAX = 30_000;
const SEVERITIES = ["high", "critical"];

const asked = ["audit", "--omit=dev", "--audit-level=high", "--json", "--fetch-retries=0", "--fetch-timeout=15000"];
// Under npm, uses that npm, whose path is a script for Node.
const { npm_execpath: npm } = process.env;
const isScript = npm !== undefined && /\.[cm]?js$/.test(npm);
const [command, args] = isScript ? [process.execPath, [npm, ...asked]] : ["npm", asked];
const { stdout, error } = spawnSync(command, args, {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  encoding: "utf8",
  timeout: WAIT_MS_MAX,
  shell: !isScript && process.platform === "win32",
});

const report = parsed(stdout ?? "");
if (report?.metadata?.vulnerabilities === undefined) {
  const reason = error?.message ?? report?.message ?? report?.error?.summary ?? "it gave no answer";
  console.log(`The registry could not be asked about vulnerabilities (${reason}): nothing was checked.`);
} else {
  const found = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) => SEVERITIES.includes(severity));
  for (const { name, severity, range } of found) console.error(`${name} ${range}: a vulnerability, ${severity}.`);
  if (found.length > 0) process.exit(1);
  console.log(
    `No known vulnerability of ${report.metadata.dependencies?.prod ?? "all"} packages is ${SEVERITIES.join(" or ")}.`,
  );
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
