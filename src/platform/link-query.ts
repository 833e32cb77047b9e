import { cutToBytes, storableText } from "../domain/json.ts";
import { cleanValue } from "../domain/user/identity.ts";
import { LIMITS } from "../limits.ts";

/**
 * The parameters of a link call. The door, the check of the signature and apply all read them here, from the same bytes,
 * so that a call can never be judged as one thing and stored as another.
 *
 * Of several values under one name, the first that says anything counts. Names are read at once and values when they are
 * asked for: the door looks at two of them, and this runs for every link call.
 */
export class LinkQuery {
  /** The query and, behind it, the form of the body. */
  readonly text: string;
  /** As sent: the first value under each name, and those behind it where there are more. */
  readonly #first = new Map<string, string>();
  readonly #further = new Map<string, string[]>();

  constructor(text: string) {
    this.text = text;
    let from = text.startsWith("?") ? 1 : 0;
    while (from < text.length) {
      const ampersand = text.indexOf("&", from);
      const until = ampersand < 0 ? text.length : ampersand;
      if (until > from) this.#take(text.slice(from, until));
      from = until + 1;
    }
  }

  static ofBytes(bytes: Buffer): LinkQuery {
    return new LinkQuery(bytes.toString("utf8"));
  }

  #take(pair: string): void {
    const equals = pair.indexOf("=");
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : pair.slice(equals + 1);
    const further = this.#further.get(name);
    if (further) further.push(value);
    else if (this.#first.has(name)) this.#further.set(name, [value]);
    else this.#first.set(name, value);
  }

  /** The empty text where there is none, or a macro that nobody has replaced. */
  get(name: string): string {
    const first = this.#first.get(name);
    const clean = first === undefined ? "" : cleaned(first);
    if (clean !== "") return clean;
    for (const value of this.#further.get(name) ?? []) {
      const other = cleaned(value);
      if (other !== "") return other;
    }
    return "";
  }

  /** What a person is shown: under each name what counts, or else what was sent in its place. */
  shown(): Record<string, string> {
    return Object.fromEntries([...this.#first].map(([name, value]) => [name, this.get(name) || decoded(value)]));
  }

  /** Whether a name stands there more than once, however it is spelled. */
  get hasRepeats(): boolean {
    return this.#further.size > 0;
  }
}

function cleaned(value: string): string {
  return cutToBytes(storableText(cleanValue(decoded(value))), LIMITS.linkValueBytes);
}

/** Undoes percent signs and plus signs as every form does: what is broken stays as it is. */
function decoded(text: string): string {
  return text.includes("%") || text.includes("+") ? new URLSearchParams(`=${text}`).get("")! : text;
}
