import { type KeyboardEvent, type ReactNode, useId } from "react";

export type Tab = { name: string; title: string };

type TabsProps = { tabs: readonly Tab[]; chosen: string; onChoose: (name: string) => void; children: ReactNode };

/** Arrow keys move between the tabs, as usual. */
export function Tabs({ tabs, chosen, onChoose, children }: TabsProps) {
  const id = useId();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const at = tabs.findIndex(({ name }) => name === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length]!;
    onChoose(next.name);
    document.getElementById(`${id}-${next.name}`)?.focus();
  };
  return (
    <div className="stack">
      <div className="tabs" role="tablist" onKeyDown={onKeyDown}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`} className="stack">
        {children}
      </div>
    </div>
  );
}
