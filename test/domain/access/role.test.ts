import fc from "fast-check";
import { expect, test } from "vitest";
import {
  appsFor,
  commonGrants,
  everywhere,
  type Grant,
  isAmong,
  mayAnywhere,
  mayEverywhere,
  mayIn,
  NEEDS,
  ROLES,
  roleIn,
} from "../../../src/domain/access/role.ts";

const grant = fc.record<Grant>({
  appId: fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }),
  role: fc.constantFrom(...ROLES),
});
const grants = fc.array(grant, { maxLength: 4 });
const APPS = [1, 2, 3, 4];

test.each([
  ["viewer", ["report"]],
  ["analyst", ["report", "detail"]],
  ["operator", ["report", "detail", "operate"]],
  ["admin", ["report", "detail", "operate", "setting", "installation"]],
] as const)("%s of all apps may: %j", (role, may) => {
  expect(NEEDS.filter((need) => mayIn(everywhere(role), need, 7))).toEqual(may);
  expect(NEEDS.filter((need) => mayEverywhere(everywhere(role), need))).toEqual(may);
});

test("an admin of one app may do everything there, and nothing for the installation or elsewhere", () => {
  const grants: Grant[] = [{ appId: 1, role: "admin" }];
  expect(NEEDS.filter((need) => mayIn(grants, need, 1))).toEqual(["report", "detail", "operate", "setting"]);
  expect(NEEDS.filter((need) => mayIn(grants, need, 2))).toEqual([]);
  expect(NEEDS.filter((need) => mayEverywhere(grants, need))).toEqual([]);
  expect(NEEDS.filter((need) => mayAnywhere(grants, need))).toEqual(["report", "detail", "operate", "setting"]);
  expect(roleIn(grants, 2)).toBeUndefined();
});

test("of several roles for an app the strongest counts", () => {
  const grants: Grant[] = [
    { appId: null, role: "analyst" },
    { appId: 1, role: "viewer" },
    { appId: 2, role: "admin" },
  ];
  expect(APPS.map((appId) => roleIn(grants, appId))).toEqual(["analyst", "admin", "analyst", "analyst"]);
  expect(appsFor(grants, "setting")).toEqual([2]);
  expect(appsFor(grants, "detail")).toBe("all");
});

test("the apps for a need are exactly those in which it is fulfilled", () => {
  fc.assert(
    fc.property(grants, fc.constantFrom(...NEEDS), (given, need) => {
      const apps = appsFor(given, need);
      for (const appId of APPS) expect(isAmong(apps, appId)).toBe(mayIn(given, need, appId));
      expect(isAmong(apps, null)).toBe(mayEverywhere(given, need));
    }),
  );
});

test("what two lists of roles have in common is what both allow, in every app and in all", () => {
  fc.assert(
    fc.property(grants, grants, fc.constantFrom(...NEEDS), (one, other, need) => {
      const common = commonGrants(one, other);
      for (const appId of APPS)
        expect(mayIn(common, need, appId)).toBe(mayIn(one, need, appId) && mayIn(other, need, appId));
      expect(mayEverywhere(common, need)).toBe(mayEverywhere(one, need) && mayEverywhere(other, need));
    }),
  );
});
