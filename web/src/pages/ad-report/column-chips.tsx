import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";
import { useTexts } from "../../texts.ts";
import { texts } from "./texts.ts";

export type Chip = { name: string; label: string };

type ColumnChipsProps = {
  title: string;
  chips: readonly Chip[];
  onChange: (names: string[]) => void;
  /** The number of chips that cannot be removed. */
  least: number;
  empty?: string;
  children: ReactNode;
};

/** The columns in their order, which can be changed by dragging or with the arrow keys. */
export function ColumnChips({ title, chips, onChange, least, empty, children }: ColumnChipsProps) {
  const text = useTexts(texts);
  const id = useId();
  const [said, setSaid] = useState("");
  const [dragged, setDragged] = useState<string>();
  const names = chips.map(({ name }) => name);
  const list = useRef<HTMLUListElement>(null);
  const keepFocus = useFocusAfterMove(list, names);

  const move = (name: string, to: number) => {
    if (to < 0 || to >= names.length) return;
    const rest = names.filter((one) => one !== name);
    keepFocus(name);
    setSaid(text.nowAt(chips.find((chip) => chip.name === name)!.label, to + 1, names.length));
    onChange([...rest.slice(0, to), name, ...rest.slice(to)]);
  };
  return (
    <div className="columns-line">
      <h3 id={id}>{title}</h3>
      {chips.length === 0 && <span className="soft">{empty}</span>}
      <ul className="column-chips" ref={list} aria-labelledby={id}>
        {chips.map((chip, at) => (
          <ChipItem
            key={chip.name}
            chip={chip}
            hintId={`${id}-hint`}
            isTarget={dragged !== undefined && dragged !== chip.name}
            onDrag={setDragged}
            onDrop={() => dragged !== undefined && move(dragged, at)}
            onStep={(step) => move(chip.name, at + step)}
            onRemove={names.length > least ? () => onChange(names.filter((one) => one !== chip.name)) : undefined}
          />
        ))}
      </ul>
      {children}
      <span id={`${id}-hint`} className="visually-hidden">
        {text.moveHint}
      </span>
      <span className="visually-hidden" role="status">
        {said}
      </span>
    </div>
  );
}

/** Moves the focus along with a moved chip, which is a new element in the document. */
function useFocusAfterMove(list: RefObject<HTMLUListElement | null>, names: readonly string[]) {
  const moved = useRef<string>(undefined);
  useEffect(() => {
    if (moved.current === undefined) return;
    list.current?.querySelector<HTMLElement>(`[data-name="${CSS.escape(moved.current)}"]`)?.focus();
    moved.current = undefined;
  }, [names.join()]);
  return (name: string) => {
    moved.current = name;
  };
}

type ChipItemProps = {
  chip: Chip;
  hintId: string;
  /** Another chip is being dragged and could be dropped here. */
  isTarget: boolean;
  onDrag: (name: string | undefined) => void;
  onDrop: () => void;
  onStep: (step: number) => void;
  onRemove: (() => void) | undefined;
};

function ChipItem({ chip: { name, label }, hintId, isTarget, onDrag, onDrop, onStep, onRemove }: ChipItemProps) {
  const text = useTexts(texts);
  const [isOver, setOver] = useState(false);
  return (
    <li
      className={`column-chip ${isTarget && isOver ? "over" : ""}`}
      draggable
      onDragStart={() => onDrag(name)}
      onDragEnd={() => onDrag(undefined)}
      onDragOver={(event) => {
        if (!isTarget) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDrop();
      }}
    >
      <button
        type="button"
        className="column-chip-name"
        data-name={name}
        aria-describedby={hintId}
        onKeyDown={(event) => {
          const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
          if (step !== undefined) event.preventDefault();
          if (step !== undefined) onStep(step);
          if (event.key === "Delete") onRemove?.();
        }}
      >
        {label}
      </button>
      {onRemove && (
        <button type="button" className="column-chip-remove" aria-label={text.remove(label)} onClick={onRemove}>
          ×
        </button>
      )}
    </li>
  );
}
