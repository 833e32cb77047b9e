import { InvalidArgumentError } from "commander";
import { platformOfLink } from "../platform/registry.ts";

export function parsePlatform(text: string): string {
  const platform = platformOfLink(text);
  if (!platform) throw new InvalidArgumentError("It must be the name of an ad platform.");
  return platform.name;
}
