import { expect, test } from "vitest";
import { BodyRoom, bodyOwner, NO_APP } from "../../src/intake/body-room.ts";
import { Refusals } from "../../src/intake/refusals.ts";

const room = () => new BodyRoom({ bytesMax: 100, refusals: new Refusals(() => 0) });

test("bodies of one app never take more than half the room, whatever addresses they come from", () => {
  const bodies = room();
  for (let address = 1; address <= 5; address += 1)
    expect(bodies.take(bodyOwner(`192.0.2.${address}`, 7), 10)).toBeUndefined();
  expect(bodies.take(bodyOwner("192.0.2.6", 7), 10)).toMatchObject({ reason: "overBudget" });
  expect(bodies.take(bodyOwner("192.0.2.6", 8), 5)).toBeUndefined();
});

test("bodies without an app count only by their address", () => {
  const bodies = room();
  expect(bodies.take(bodyOwner("192.0.2.1", NO_APP), 50)).toBeUndefined();
  expect(bodies.take(bodyOwner("192.0.2.1", NO_APP), 10)).toMatchObject({ reason: "overBudget" });
  expect(bodies.take(bodyOwner("192.0.2.2", NO_APP), 10)).toBeUndefined();
  expect(bodies.bytes).toBe(60);
  bodies.give(bodyOwner("192.0.2.1", NO_APP), 50);
  expect(bodies.bytes).toBe(10);
});
