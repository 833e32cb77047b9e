import { useMayChange } from "../session.tsx";
import { Button } from "./button.tsx";

type ListHeadProps = { about: string; add: string; onAdd: () => void };

/** The description of a list of settings, and the button that adds one, for those who may. */
export function ListHead({ about, add, onAdd }: ListHeadProps) {
  const mayChange = useMayChange();
  return (
    <div className="row apart">
      <p className="soft grow">{about}</p>
      {mayChange && (
        <Button look="main" onClick={onAdd}>
          {add}
        </Button>
      )}
    </div>
  );
}
