import { expect, test } from "vitest";
import {
  type AppMetadata,
  isPresetProperty,
  NAME,
  PRESET_EVENTS,
  type PropertyType,
  propertyTypes,
} from "../../../src/domain/event/metadata.ts";

const metadata = (mode: AppMetadata["mode"]): AppMetadata => ({
  mode,
  events: new Map(),
  properties: {
    event: new Map([
      ["level", "number"],
      ["$os", "string"],
    ]),
    user: new Map([["level", "string"]]),
  },
});

test.each<["open" | "strict", "event" | "user", string, PropertyType | "any" | undefined]>([
  ["open", "event", "level", "number"],
  ["open", "user", "level", "string"],
  ["strict", "event", "level", "number"],
  ["open", "event", "fresh", "any"],
  ["strict", "event", "fresh", undefined],
  ["open", "event", "$fresh", undefined],
  ["open", "event", "1st", undefined],
  ["open", "event", "", undefined],
  ["open", "event", "a".repeat(51), undefined],
  ["strict", "user", "$os", "any"],
  ["strict", "event", "$os", "string"],
  ["strict", "event", "$pay_amount", "number"],
  ["open", "event", "$ecpm", "number"],
])("in %s mode the %s property %s is of type %s", (mode, scope, name, expected) => {
  expect(propertyTypes(metadata(mode), scope)(name)).toBe(expected);
});

test("every preset event has a valid name that begins with $", () => {
  for (const name of PRESET_EVENTS) expect(name).toMatch(/^\$/);
  expect([...PRESET_EVENTS].filter((name) => !NAME.test(name))).toEqual([]);
});

/** Everything that reports show as event$… and user$… must be able to arrive in strict mode too. */
test.each([
  ...[
    "is_first_pay",
    "pay_method",
    "pay_reason",
    "brand",
    "os",
    "network_type",
    "ip",
    "browser",
    "ad_type",
    "ad_unit_id",
  ],
  ...["adn_type", "app_crashed_reason", "ecpm", "event_duration", "guide_step", "order_id", "pay_amount", "pay_type"],
  ...[
    "scene_name",
    "scene_path",
    "share_depth",
    "share_method",
    "ta_account_id",
    "ta_distinct_id",
    "third_platform_type",
  ],
  ...["url_path", "url_query", "first_scene", "gender", "manufacturer", "model", "first_visit_time", "name", "channel"],
])("$%s is a preset property", (name) => {
  expect(isPresetProperty(`$${name}`)).toBe(true);
});
