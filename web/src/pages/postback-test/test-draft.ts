/** The typed fields of a test. */
export type TestDraft = {
  eventType: string;
  /** The platform's own code; empty for the usual one. */
  code: string;
  /** In the app's currency; empty for none. */
  amount: string;
  of: "user" | "click";
  client: string;
  key: string;
  keyValue: string;
  device: Readonly<Record<string, string>>;
  isMarked: boolean;
};

export type TestFieldsProps = { draft: TestDraft; onChange: (changes: Partial<TestDraft>) => void };

export const NEW_TEST: TestDraft = {
  eventType: "activate",
  code: "",
  amount: "",
  of: "user",
  client: "",
  key: "",
  keyValue: "",
  device: {},
  isMarked: true,
};

const AMOUNT = /^\d{1,7}(?:\.\d{1,2})?$/;

export function isAmount(text: string): boolean {
  return text.trim() === "" || AMOUNT.test(text.trim());
}

/** The part of the request that the draft decides. Empty fields are left out. */
export function testBodyOf(draft: TestDraft): object {
  const amount = draft.amount.trim();
  const device = Object.fromEntries(Object.entries(draft.device).filter(([, value]) => value.trim() !== ""));
  return {
    event_type: draft.eventType,
    ...(draft.code.trim() !== "" && { code: draft.code.trim() }),
    ...(amount !== "" && { value_cents: Math.round(Number(amount) * 100) }),
    mark: draft.isMarked ? "on" : "off",
    ...(draft.of === "user"
      ? { client_id: draft.client.trim() }
      : { click: draft.keyValue.trim() === "" ? {} : { [draft.key]: draft.keyValue.trim() }, device }),
  };
}
