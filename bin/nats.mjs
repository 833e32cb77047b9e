// The server of the log in JetStream, for the tests: Debian's nats-server. The one of Debian 12 cannot keep replicas (see
// src/journal/jetstream/nats-server.ts), so that of Debian 13, a single file, is put into /usr/local/bin where that is possible.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { provide } from "./debian.mjs";

/** As sim/chaos/nodes/nats-servers.ts has them: the newer one first. */
const PLACES = ["/usr/local/bin/nats-server", "/usr/sbin/nats-server", "/usr/bin/nats-server"];
const OLD = /v2\.([0-9]\.|10\.([0-9]|1[0-9]|2[0-2])(\D|$))/;

provide({
  name: "nats-server",
  places: PLACES,
  packages: ["nats-server"],
  missing: "The tests of the log need a nats-server: install it (Debian: apt-get install nats-server).",
});
const found = PLACES.find((path) => existsSync(path));
if (OLD.test(execFileSync(found, ["--version"], { encoding: "utf8" }))) addNewer();

function addNewer() {
  const folder = mkdtempSync(join(tmpdir(), "nats-server-"));
  try {
    if (process.getuid?.() !== 0) throw new Error("only root may install it");
    console.log("Installing a newer nats-server (once) …");
    mkdirSync(join(folder, "lists"));
    // From where this machine has its other packages.
    const mirrors = execFileSync("apt-get", ["indextargets", "--format", "$(REPO_URI)"], { encoding: "utf8" });
    const mirror = mirrors.split("\n").find((uri) => /\/debian\/?$/.test(uri));
    if (!mirror) throw new Error("this machine names no place for Debian's packages");
    writeFileSync(join(folder, "sources"), `deb ${mirror} trixie main\n`);
    const places = { sourcelist: "sources", sourceparts: "none" };
    const options = [
      ...Object.entries(places).map(([name, path]) => `Dir::Etc::${name}=${join(folder, path)}`),
      `Dir::State::lists=${join(folder, "lists")}`,
      `Dir::Cache=${folder}`,
      "APT::Sandbox::User=root",
    ].flatMap((option) => ["-o", option]);
    const run = (program, ...args) => execFileSync(program, args, { cwd: folder, stdio: "pipe" });
    run("apt-get", "-qq", ...options, "update");
    run("apt-get", "-qq", ...options, "download", "nats-server");
    const archive = readdirSync(folder).find((name) => name.endsWith(".deb"));
    run("dpkg-deb", "-x", archive, "content");
    copyFileSync(join(folder, "content/usr/sbin/nats-server"), PLACES[0]);
  } catch (error) {
    console.log(`The nats-server is old, and no newer one can be had (${error.message.split("\n")[0]}).`);
    console.log("The test of a frozen server only proves that such a server is refused.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
