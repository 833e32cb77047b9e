import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { ROOT } from "../process/launch.ts";

const KEPT = join(ROOT, "test/release");

/** The release before, unpacked inside this clone, whose packages it uses. `bin/keep-release.mjs` has packed it. */
export class PreviousRelease {
  readonly #folder: string;

  constructor() {
    const [name] = readdirSync(KEPT);
    this.#folder = join(ROOT, "dist", `release-${process.pid}`);
    const files = JSON.parse(brotliDecompressSync(readFileSync(join(KEPT, name!))).toString("utf8"));
    for (const [path, text] of Object.entries<string>(files)) {
      const file = join(this.#folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }

  /** Arguments of the shell that start its server. */
  get script(): readonly string[] {
    return [join(this.#folder, "bin/start.sh"), join(this.#folder, "dist/bundle/main.js")];
  }

  get cli(): string {
    return join(this.#folder, "dist/bundle/cli.js");
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
