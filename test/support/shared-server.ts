import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { cleanUp, Touchpoint, TouchpointProcess } from "./touchpoint.ts";

declare module "vitest" {
  interface ProvidedContext {
    sharedServer: { url: string; dataDir: string };
  }
}

/** One real server with its embedded PostgreSQL for all tests that do not need one of their own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await TouchpointProcess.start();
  project.provide("sharedServer", { url: server.url, dataDir: server.dataDir });
  return async () => {
    const code = await server.stop();
    await cleanUp(server.dataDir);
    if (code !== 0) throw new Error(`The shared server ended with ${code}:\n${server.output}`);
  };
}

export function sharedServer(): Touchpoint {
  return new Touchpoint(inject("sharedServer"));
}
