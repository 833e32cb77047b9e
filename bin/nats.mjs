// The server of the log in JetStream, for the tests: Debian's nats-server.
import { provide } from "./debian.mjs";

provide({
  name: "nats-server",
  places: ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"],
  packages: ["nats-server"],
  missing: "The tests of the log need a nats-server: install it (Debian: apt-get install nats-server).",
});
