// Asks the registry for known vulnerabilities in what is delivered: the packages in the bundle, and those installed beside it.
// A vulnerability fails; an unreachable registry does not, but the output says that nothing was checked.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const WAIT_MS_MAX = 30_000;
const SEVERITIES = ["high", "critical"];

const root = fileURLToPath(new URL("..", import.meta.url));
const asked = ["audit", "--audit-level=high", "--json", "--fetch-retries=0", "--fetch-timeout=15000"];
// Under npm, uses that npm, whose path is a script for Node.
const { npm_execpath: npm } = process.env;
const isScript = npm !== undefined && /\.[cm]?js$/.test(npm);
const [command, args] = isScript ? [process.execPath, [npm, ...asked]] : ["npm", asked];
const { stdout, error } = spawnSync(command, args, {
  cwd: root,
  encoding: "utf8",
  timeout: WAIT_MS_MAX,
  shell: !isScript && process.platform === "win32",
});

const report = parsed(stdout ?? "");
if (report?.metadata?.vulnerabilities === undefined) {
  const reason = error?.message ?? report?.message ?? report?.error?.summary ?? "it gave no answer";
  console.log(`The registry could not be asked about vulnerabilities (${reason}): nothing was checked.`);
} else {
  const delivered = deliveredPackages();
  const found = Object.values(report.vulnerabilities ?? {}).filter(
    ({ severity, nodes }) => SEVERITIES.includes(severity) && nodes.some((node) => delivered.has(node)),
  );
  for (const { name, severity, range } of found) console.error(`${name} ${range}: a vulnerability, ${severity}.`);
  if (found.length > 0) process.exit(1);
  console.log(`No known vulnerability of ${delivered.size} packages is ${SEVERITIES.join(" or ")}.`);
}

/** Their places in node_modules. */
function deliveredPackages() {
  const bundled = ["bundle", "web"].flatMap((part) =>
    JSON.parse(readFileSync(join(root, "dist", part, "packages.json"), "utf8")),
  );
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const beside = Object.keys(packages).filter((path) => path !== "" && !packages[path].dev);
  return new Set([...bundled, ...beside]);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
