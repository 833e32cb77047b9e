import type { ReactNode } from "react";
import type { Need } from "../../../src/contract/setting/session.ts";
import { useMay } from "../may.ts";
import { Button } from "./button.tsx";

type ListHeadProps = { about: string; add: string; onAdd: () => void; needs?: Need; children?: ReactNode };

/** The description of a list of settings, and the button that adds one after any others, for those who may. */
export function ListHead({ about, add, onAdd, needs = "setting", children }: ListHeadProps) {
  const mayChange = useMay(needs);
  return (
    <div className="row apart">
      <p className="soft grow">{about}</p>
      {mayChange && children}
      {mayChange && (
        <Button look="main" onClick={onAdd}>
          {add}
        </Button>
      )}
    </div>
  );
}
