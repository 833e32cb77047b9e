import { bytesOf, isAt } from "./plain-value.ts";

/** Members of an event, each a bit of the set of those that were read. */
export const MEMBER = { type: 1, event: 2, time: 4, time_free: 8, properties: 16 } as const;
export const WHOLE = MEMBER.event | MEMBER.time | MEMBER.properties;

const NAMES = Object.entries(MEMBER).map(([name, member]) => ({ bytes: bytesOf(name), member }));

/** Which member a name is; 0 for one that says nothing here. */
export function memberAt(bytes: Uint8Array, from: number, until: number): number {
  for (let index = 0; index < NAMES.length; index += 1) {
    const name = NAMES[index]!;
    if (name.bytes.length === until - from && isAt(bytes, from, name.bytes)) return name.member;
  }
  return 0;
}

/** Where the members of an event stand that is a pattern for later ones of the same body. */
export type Frame = {
  isKnown: boolean;
  from: number;
  nameAt: number;
  nameUntil: number;
  timeAt: number;
  timeUntil: number;
  propertiesAt: number;
  isFree: boolean;
  hasType: boolean;
};

export const noFrame = (): Frame => ({
  isKnown: false,
  from: 0,
  nameAt: 0,
  nameUntil: 0,
  timeAt: 0,
  timeUntil: 0,
  propertiesAt: 0,
  isFree: false,
  hasType: false,
});

export function noteInFrame(frame: Frame, member: number, { at, until }: { at: number; until: number }): void {
  switch (member) {
    case MEMBER.event:
      frame.nameAt = at;
      frame.nameUntil = until;
      break;
    case MEMBER.time:
      frame.timeAt = at;
      frame.timeUntil = until;
      break;
    case MEMBER.properties:
      frame.propertiesAt = at;
      break;
  }
}
