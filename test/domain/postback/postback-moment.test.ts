import fc from "fast-check";
import { expect, test } from "vitest";
import { adMoments } from "../../../src/domain/postback/postback-moment.ts";

const AT = { atMs: 1, day: "2026-05-02", receivedAtMs: 2 };

test("the amounts of single ads add up to what all of them earned, to the cent", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50_000), { minLength: 1 }), (earned) => {
      let [micros, sum] = [0, 0];
      earned.forEach((own, index) => {
        micros += own;
        const ad = { id: `ad-${index}`, micros: own, properties: {} };
        const [all, one] = adMoments(AT, ad, { count: index + 1, micros });
        sum += one!.cents!;
        expect([all!.moment, one!.moment, one!.ownSubject]).toEqual(["ad_view", "each_ad", `ad-${index}`]);
        expect(sum).toBe(all!.cents);
        expect(Math.abs(one!.cents! - own / 10_000)).toBeLessThanOrEqual(1);
      });
    }),
  );
});
