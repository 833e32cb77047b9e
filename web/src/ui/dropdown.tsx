import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button } from "./button.tsx";
import "./dropdown.css";

type DropdownProps = {
  title: ReactNode;
  /** A fuller name than the title, for screen readers. */
  label?: string;
  /** The edge of the button at which the panel begins. */
  align?: "left" | "right";
  isActive?: boolean;
  children: (close: () => void) => ReactNode;
};

/** A button that opens a panel below it. Escape or any action elsewhere closes the panel. */
export function Dropdown({ title, label, align = "left", isActive = false, children }: DropdownProps) {
  const [isOpen, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = (event: Event) => {
      if (!element.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
    };
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    element.current?.querySelector("button")?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys that come from the controls inside
    <div
      ref={element}
      className={`dropdown ${align}`}
      onKeyDown={(event) => {
        if (event.key === "Escape" && isOpen) close();
      }}
    >
      <Button
        className={isActive ? "active" : ""}
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {title}
      </Button>
      {isOpen && (
        <div className="dropdown-panel" id={id}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
