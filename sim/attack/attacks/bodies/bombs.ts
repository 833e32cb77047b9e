import { packed } from "../../caller.ts";

const UNPACKED_BYTES = 16 * 1024 * 1024 - 4_096;

/** Small on the wire and as large as allowed when unpacked: many small objects, and deeply nested brackets. */
export function bombs(): { name: string; bytes: Buffer }[] {
  const depth = UNPACKED_BYTES / 2;
  return [
    { name: "objects", bytes: packed(`[${"{},".repeat(UNPACKED_BYTES / 3)}{}]`) },
    { name: "nesting", bytes: packed("[".repeat(depth) + "]".repeat(depth)) },
    { name: "named nesting", bytes: packed('{"a":'.repeat(depth / 3)) },
  ];
}

/** Otherwise valid bodies with too many, too deep or too long events. */
export function collectBombs(clientId: string): { name: string; bytes: Buffer }[] {
  const around = (list: string) => packed(`{"client_id":"${clientId}","event_list":[${list}]}`);
  const event = (properties: string) => `{"type":"track","event":"e","time":1,"properties":${properties}}`;
  const depth = UNPACKED_BYTES / 2;
  return [
    { name: "empty events", bytes: around(`${"{},".repeat(UNPACKED_BYTES / 3)}{}`) },
    { name: "nested property", bytes: around(event(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`)) },
    { name: "wide property", bytes: around(event(`{"a":[${"0,".repeat(UNPACKED_BYTES / 2)}0]}`)) },
    { name: "long text", bytes: around(event(`{"a":"${"\\u0041".repeat(UNPACKED_BYTES / 6)}"}`)) },
  ];
}
