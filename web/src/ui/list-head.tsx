import { useMayChange } from "../session.tsx";
import { Button } from "./button.tsx";

type ListHeadProps = { about: string; add: string; onAdd: () => void };

/** What a list of settings is about, and for those who may, the way to a new one. */
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
