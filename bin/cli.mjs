// `npm run -s cli -- …`: makes the clone ready, then hands over to the command line.
await import("./prepare.mjs");
await import("../dist/bundle/cli.js");
