import { FORMULA_TEXTS } from "../../../fuzz/nasty.ts";
import type { Attack } from "../../attack.ts";

/** Formulas for spreadsheets that use other separators, or treat full-width signs as plain ones. */
const MORE = [
  ";=1+1",
  "a;=1+1",
  "a\t=1+1",
  "＝1+1",
  "\n=1+1",
  '"=1+1',
  'a",=1+1',
  "-2+3+cmd|' /C calc'!A0",
  "a\r\n=1+1",
];

export const formulas: Attack = {
  name: "formulas",
  point: "12",
  by: "the owner of another app",
  what: "names, channels and properties that a spreadsheet would take for formulas",
  holds: "no cell of an exported file begins like one",
  async strike({ target, caller, repeat }) {
    const { accessToken } = target.own;
    const texts = [...FORMULA_TEXTS, ...MORE];
    await repeat(2, async (number) => {
      const text = texts[number % texts.length]!;
      const clientId = `formula-${number % 40}`;
      await caller.register(accessToken, clientId, { name: text, channel: text });
      const properties = { $order_id: `${text}${number}`, $pay_amount: 100, text };
      const event_list = [{ type: "track", event: "$PayEvent", time: Date.now(), properties }];
      await caller.collect(accessToken, "event/collect/", { client_id: clientId, event_list });
    });
  },
  async check({ stage }) {
    const body = { app_id: stage.target.own.appId, format: "csv" };
    const faults: string[] = [];
    for (const kind of ["users", "orders"]) {
      const text = await stage.admin.text("export", { ...body, kind });
      const bad = cellsOf(text).filter(isFormula);
      if (bad.length > 0) faults.push(`${bad.length} cells of ${kind} are formulas, such as ${JSON.stringify(bad[0])}`);
    }
    return faults;
  },
};

const BEGINS = /^[\s"]*[=+@\-\uff1d\uff0b\uff20\uff0d]/;
/** A formula after any character that separates cells in some locale; quotes in the middle of a cell do not protect it. */
const BEGINS_WITHIN = /[;\t|\r\n][\s"]*[=+@\-\uff1d\uff0b\uff20\uff0d]/;

function isFormula(cell: string): boolean {
  return (BEGINS.test(cell) && !/^-[\d.]*$/.test(cell)) || BEGINS_WITHIN.test(cell);
}

function cellsOf(csv: string): string[] {
  return [...csv.matchAll(/(?:^|[,\n])(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)].map(([, quoted, plain]) =>
    (quoted ?? plain ?? "").replaceAll('""', '"'),
  );
}
