import { describe, expect, test } from "vitest";
import type { Finding } from "../../../src/domain/doctor/finding.ts";
import type { SeenCall } from "../../../src/domain/doctor/seen-call.ts";

type Case = [what: string, calls: SeenCall[], found: Partial<Finding> | undefined];
type Rule = (calls: readonly SeenCall[]) => Finding | undefined;

/** A table of calls and what a rule of the doctor finds in them, or that it finds nothing. */
export function cases(name: string, rule: Rule, table: readonly Case[]): void {
  describe(name, () => {
    test.each(table)("%s", (_, calls, found) => {
      const finding = rule(calls);
      if (found === undefined) expect(finding).toBeUndefined();
      else expect(finding).toMatchObject(found);
    });
  });
}
