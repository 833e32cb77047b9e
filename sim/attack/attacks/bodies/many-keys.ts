import type { Attack } from "../../attack.ts";

const CLIENT = "many-keys";
const BYTES = 1_900_000;

export const manyKeys: Attack = {
  name: "many_keys",
  point: "1",
  by: "the owner of another app",
  what: "objects of 100,000 keys, keys that look like places of a list, and names that objects have by themselves",
  holds: "no object of the server gets a property by it",
  async strike({ target, caller, repeat, hold }) {
    const { accessToken } = target.own;
    await caller.register(accessToken, CLIENT);
    const all = [plainKeys(), indexKeys(), prototypeKeys()].map(bodyOf);
    await repeat(4, async (number) => {
      await caller.collect(accessToken, "event/collect/", all[number % all.length]!);
      const reply = await caller.collect(accessToken, "user/get/", { user_list: [CLIENT] });
      hold(!reply.text.includes("polluted"), `an answer is ${reply.text.slice(0, 200)}`);
    });
  },
};

function bodyOf(properties: string): string {
  return `{"client_id":"${CLIENT}","event_list":[{"type":"track","event":"e","time":${Date.now()},"properties":${properties}}]}`;
}

function plainKeys(): string {
  let text = "{";
  for (let key = 0; text.length < BYTES; key += 1) text += `"k${key}":${key},`;
  return `${text}"z":1}`;
}

/** Numeric keys turn an object into a sparse array, which engines store differently. */
function indexKeys(): string {
  let text = "{";
  for (let key = 0; text.length < BYTES; key += 1) text += `"${4_294_967_295 - key * 65_536}":1,`;
  return `${text}"z":1}`;
}

function prototypeKeys(): string {
  const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then", "toJSON"];
  const inner = names.map((name) => `"${name}":{"polluted":"polluted"}`).join(",");
  return `{${names.map((name) => `"${name}":{${inner}}`).join(",")},"isAdmin":true}`;
}
