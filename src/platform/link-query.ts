import { cutToBytes, storableText } from "../domain/json.ts";
import { cleanValue } from "../domain/user/identity.ts";
import { LIMITS } from "../limits.ts";

/**
 * The parameters of a link call. The door, the signature check and apply all read them here, from the same bytes, so
 * that a call cannot be judged as one thing and stored as another.
 *
 * When a name has several values, the first non-empty one counts. Names are parsed at once, values only when needed:
 * the door reads two of them, and this runs for every link call.
 */
export class LinkQuery {
  /** The query, followed by the form in the body. */
  readonly text: string;
  /** The first value of each name as sent, and the further ones of repeated names. */
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

  /** The value, or the empty text when there is none or only an unreplaced macro. */
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

  /** The parameters to show to people: for each name the value that counts, else what was sent. */
  shown(): Record<string, string> {
    return Object.fromEntries([...this.#first].map(([name, value]) => [name, this.get(name) || decoded(value)]));
  }

  /** Whether a name is repeated, however it is encoded. */
  get hasRepeats(): boolean {
    return this.#further.size > 0;
  }
}

function cleaned(value: string): string {
  return cutToBytes(storableText(cleanValue(decoded(value))), LIMITS.linkValueBytes);
}

/** Decodes percent and plus signs as in forms; broken encodings stay as they are. */
function decoded(text: string): string {
  return text.includes("%") || text.includes("+") ? new URLSearchParams(`=${text}`).get("")! : text;
}
