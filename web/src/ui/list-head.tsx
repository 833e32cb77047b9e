import type { ReactNode } from "react";
import { useMayChange } from "../session.tsx";
import { Button } from "./button.tsx";

type ListHeadProps = { about: string; add: string; onAdd: () => void; children?: ReactNode };

/** The description of a list of settings, and the button that adds one after any others, for those who may. */
export function ListHead({ about, add, onAdd, children }: ListHeadProps) {
  const mayChange = useMayChange();
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
