import type { Format } from "../../format.ts";
import { isOpenEnd } from "./amount.ts";
import type { CentsValue, Condition, FilterField, FilterValue, PostbackValue } from "./list-state.ts";
import type { ListTexts } from "./texts.ts";
import { namesOfFilter, type ValueNames } from "./value-names.ts";

type Words = { text: ListTexts; format: Format; names: ValueNames };

/** A filter in words: "Amount 6.00 – 30.00". */
export function valueText(field: FilterField, value: FilterValue, { text, format, names }: Words): string {
  switch (field.form) {
    case "dates":
    case "times":
      return (value as string[]).join(" – ");
    case "cents": {
      const { operator, values } = value as CentsValue;
      const [from = 0, until = 0] = values;
      if (operator === "between" && isOpenEnd(until)) return `≥ ${format.cents(from)}`;
      return values.map(format.cents).join(operator === "between" ? " – " : ", ");
    }
    case "status":
      return text.statuses[Number(value)] ?? String(value);
    case "postback": {
      const { event_type, status } = value as PostbackValue;
      return `${event_type}: ${text.statuses[Number(status)] ?? status}`;
    }
    default:
      return (value as (string | number)[])
        .map((one) => namesOfFilter(field.name, names)?.(String(one)) ?? one)
        .join(", ");
  }
}

export function conditionText({ field, operator, values = [] }: Condition, text: ListTexts): string {
  const shown = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return [field, text.operators[operator], shown.join(operator === "between" ? " – " : ", ")].join(" ").trim();
}
