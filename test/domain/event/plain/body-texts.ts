import fc from "fast-check";

/** Numbers as clients may write them, a few of which are no JSON. */
const NUMBERS = [
  ...["0", "-0", "0.0", "1", "-7", "12.5", "-0.25", "1.0", "1.50", "0.000001", "0.0000001", "0.1234567", "100.001"],
  ...[
    "1e5",
    "1E+2",
    "5e-324",
    "1e999",
    "123456789012345",
    "1234567890123456",
    "98765432109876543210",
    "9999999999999.99",
  ],
  ...[
    "9999999999999",
    "10000000000000",
    "9999999999999.9999",
    "-9999999999999",
    "01",
    "1.",
    ".5",
    "-",
    "+1",
    "0x10",
    "1 2",
  ],
];

const TEXTS = [
  ...[
    '""',
    '"a"',
    '"android"',
    '"游戏"',
    '"é"',
    '"😀"',
    '"\\u0041"',
    '"a\\"b"',
    '"\\\\"',
    '"\\n"',
    '"\\ud800"',
    '"\\u0000"',
  ],
  ...[
    '"\u2028"',
    '"\u007f"',
    '"a\tb"',
    '"2026-11-18 10:00:00"',
    `"${"x".repeat(2_048)}"`,
    `"${"长".repeat(683)}"`,
    '"',
  ],
];

const OTHERS = [
  "true",
  "false",
  "null",
  "[]",
  '["a","b"]',
  "[1]",
  "{}",
  '{"a":{"b":[1,2]}}',
  '{"k":"}"}',
  "nul",
  "tru",
  "",
  "{",
  "]",
];

const KEYS = [
  ...[
    "$os",
    "$lib",
    "level",
    "zone",
    "$ecpm",
    "$ad_type",
    "$ad_unit_id",
    "$ip",
    "$ua",
    "lv",
    "时间",
    "a b",
    "",
    "7",
    "__proto__",
  ],
  ...["$order_id", "$trace_id", "$unknown", "declared_number", "declared_text", "declared_date", "declared_flag"],
];

const often = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight: 40 }, { arbitrary: odd, weight: 1 });

const space = often(fc.constant(""), fc.constantFrom(" ", "\n", "\t ", "\r\n", "\u00a0"));

const usualValue = fc.oneof(
  fc.constantFrom("412", "915", "12.5", "true", "null", "1000000001"),
  fc.constantFrom('"android"', '"MiniGame"', '"游戏"', '"14"'),
);
const value = often(usualValue, fc.constantFrom(...NUMBERS, ...TEXTS, ...OTHERS));

const keyText = often(
  fc.constantFrom(...KEYS.slice(0, 8)).map((key) => JSON.stringify(key)),
  fc.constantFrom(...KEYS.map((key) => JSON.stringify(key)), '"\\u0061"', "bare", '"open'),
);

const member = (key: fc.Arbitrary<string>, of: fc.Arbitrary<string>) =>
  fc.tuple(space, key, space, space, of, space).map(([a, name, b, c, text, d]) => `${a}${name}${b}:${c}${text}${d}`);

const object = (members: fc.Arbitrary<string[]>) =>
  fc
    .tuple(members, often(fc.constant("}"), fc.constantFrom(",}", "]", "}}", "")))
    .map(([list, end]) => `{${list.join(",")}${end}`);

const properties = often(
  fc.uniqueArray(member(keyText, value), { maxLength: 8, selector: (text) => text.split(":")[0]! }),
  fc.array(member(keyText, value), { maxLength: 8 }),
);

const TIMES = [
  "1790000000000",
  "1790000000001",
  "1600000000000",
  "0",
  "-5",
  "1790000000000.5",
  "01790000000000",
  '"now"',
  "null",
];
const EVENT_NAMES = [
  '"level_up"',
  '"$MPShow"',
  '"$AdShow"',
  '"$PayEvent"',
  '"$Nothing"',
  '"switched_off"',
  '"升级"',
  '"a\\u0062"',
  "5",
  '""',
];

const event = fc
  .tuple(
    member(
      fc.constant('"type"'),
      often(fc.constant('"track"'), fc.constantFrom('"profile"', '"user_del"', "null", "1")),
    ),
    member(fc.constant('"event"'), often(fc.constantFrom(...EVENT_NAMES.slice(0, 4)), fc.constantFrom(...EVENT_NAMES))),
    member(fc.constant('"time"'), often(fc.constantFrom("1790000000000", "1790000000007"), fc.constantFrom(...TIMES))),
    often(fc.constant('"time_free":false'), member(fc.constant('"time_free"'), fc.constantFrom("true", "1", "[]"))),
    member(fc.constant('"properties"'), often(object(properties), fc.constantFrom("[]", "null", "5"))),
    fc.array(member(fc.constantFrom('"$uuid"', '"event"', '"ekey"', '"x"'), value), { maxLength: 1 }),
  )
  .chain(([type, name, time, free, own, more]) => {
    const all = [type, name, time, free, own];
    const inOrder = fc.constant(all);
    return object(often(inOrder, fc.shuffledSubarray([...all, ...more])));
  });

/** Events that say nearly the same, as those of one client do. */
const alike = fc
  .tuple(event, fc.array(fc.constantFrom("412", "413", "41", "4123", '"x"'), { minLength: 1, maxLength: 6 }))
  .map(([text, numbers]) => numbers.map((number) => text.replace("412", number)));

const list = often(
  fc
    .array(
      fc.oneof(
        alike,
        event.map((text) => [text]),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => `[${parts.flat().join(",")}]`),
  fc.constantFrom("[]", "[1]", "{}", "null", '["a"]', "[{}]"),
);

/** Bodies of event collect, of which some are no JSON. */
export const bodyText: fc.Arbitrary<string> = fc
  .tuple(
    member(
      fc.constant('"client_id"'),
      often(fc.constant('"client-1"'), fc.constantFrom("17", "98765432109876543210", "null", '""')),
    ),
    member(fc.constant('"event_list"'), list),
    fc.array(
      member(
        fc.constantFrom('"type"', '"client_ip"', '"client_ua"', '"$flush_time"', '"sdk"', '"client_id"'),
        fc.constantFrom('"track"', '"profile"', '"10.0.0.1"', "1790000000000", '{"v":[1]}', '{"v":[}', "null", "1.50"),
      ),
      { maxLength: 3 },
    ),
  )
  .chain(([client, events, more]) => object(fc.shuffledSubarray([client, events, ...more], { minLength: 2 })));
