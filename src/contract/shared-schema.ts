/** Takes a schema that several others refer to, and gives it a name. */
export type Share = (schema: object) => string;

/**
 * Copies schemas so that every part that stands in one several times, or was shared before, is a reference. Written out, the
 * conditions of a question about events are compiled a hundred times over, which holds the server for half a second.
 */
export class SharedSchemas {
  readonly #share: Share;
  /** The names of shared parts, for all schemas. */
  readonly #names = new WeakMap<object, string>();

  constructor(share: Share) {
    this.#share = share;
  }

  copyOf(schema: object): object {
    return this.#copy(schema, repeatedIn(schema)) as object;
  }

  #copy(value: unknown, repeated: ReadonlySet<object>): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#copied(one, repeated));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#copied(one, repeated)]));
  }

  #copied(value: unknown, repeated: ReadonlySet<object>): unknown {
    if (!isObject(value) || !isWorthSharing(value)) return this.#copy(value, repeated);
    const known = this.#names.get(value);
    if (known !== undefined) return { $ref: known };
    const copy = this.#copy(value, repeated);
    if (!repeated.has(value)) return copy;
    const name = this.#share(copy as object);
    this.#names.set(value, name);
    return { $ref: name };
  }
}

/** Parts that stand in several places of a schema. */
function repeatedIn(schema: object): Set<object> {
  const [seen, repeated] = [new Set<object>(), new Set<object>()];
  const look = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    if (seen.has(value)) {
      repeated.add(value);
      return;
    }
    seen.add(value);
    for (const one of Object.values(value)) look(one);
  };
  look(schema);
  return repeated;
}

/** A check of a single value is as quick where it stands. */
function isWorthSharing({ type, properties, anyOf }: Parts): boolean {
  return (type === "object" && properties !== undefined) || Array.isArray(anyOf);
}

type Parts = { type?: unknown; properties?: unknown; anyOf?: unknown };

function isObject(value: unknown): value is Parts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
