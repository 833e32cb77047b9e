import { ApiError } from "../errors.ts";
import type { PostbackConnector } from "./connector/connector.ts";
import { COST_PLATFORMS, POSTBACK_PLATFORMS, platformNamed, platformOfLink, postbackConnectorOf } from "./registry.ts";

/** The connectors for postbacks that an app has: those in the registry, and the ones that it has declared itself. */
export class Connectors {
  readonly #declared: ReadonlyMap<string, PostbackConnector>;

  constructor(declared: ReadonlyMap<string, PostbackConnector> = new Map()) {
    this.#declared = declared;
  }

  /** Undefined when the platform accepts no postbacks, or nobody has said how. */
  postbackOf(platform: string): PostbackConnector | undefined {
    return postbackConnectorOf(platform) ?? this.#declared.get(platform);
  }

  isDeclared(platform: string): boolean {
    return postbackConnectorOf(platform) === undefined && this.#declared.has(platform);
  }

  get declaredPlatforms(): readonly string[] {
    return [...this.#declared.keys()];
  }

  get postbackPlatforms(): readonly string[] {
    return [...POSTBACK_PLATFORMS, ...this.#declared.keys()];
  }

  /** Platforms that take postbacks or report costs. Only these can have accounts. */
  get accountPlatforms(): readonly string[] {
    return [...new Set([...POSTBACK_PLATFORMS, ...COST_PLATFORMS, ...this.#declared.keys()])];
  }
}

/** The connectors of an app that has declared none. */
export const CODED = new Connectors();

/** The name of a platform that a connector can be declared for. */
export function readDeclaredPlatform(text: string): string {
  const lower = text.toLowerCase();
  const known = platformNamed(lower);
  if (known && POSTBACK_PLATFORMS.includes(known.name))
    throw bad(`${known.name} has a connector of its own; add an account at it instead.`);
  if (known && known.click === undefined) throw bad(`${known.name} accepts no postbacks.`);
  const platform = platformOfLink(lower);
  if (!platform)
    throw bad(
      `${JSON.stringify(text)} is not the name of a platform: small letters, digits and _, beginning with a letter.`,
    );
  return platform.name;
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
