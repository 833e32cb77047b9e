import { type MouseEvent, useState } from "react";
import { useTexts } from "../texts.ts";
import { Button } from "./button.tsx";
import { texts } from "./texts.ts";

const SHOWN_MS = 1_500;

export function CopyButton({ value, label }: { value: string; label?: string }) {
  const text = useTexts(texts);
  const [isCopied, setCopied] = useState(false);
  const copy = async (event: MouseEvent<HTMLButtonElement>) => {
    await copyText(value, event.currentTarget);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Button size="small" onClick={copy} aria-live="polite">
      {isCopied ? text.copied : (label ?? text.copy)}
    </Button>
  );
}

export function CopyBlock({ value, wrap = false }: { value: string; wrap?: boolean }) {
  return (
    <div className={`copy-block ${wrap ? "wrap" : ""}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard */}
      <pre tabIndex={0}>{value}</pre>
      <CopyButton value={value} />
    </div>
  );
}

/**
 * Browsers offer the clipboard API only on a secure origin, which a server in a local network often lacks. There the text is
 * copied from a selection. The selected element must be beside the button, because nothing behind an open dialog can be
 * selected.
 */
async function copyText(value: string, button: HTMLElement): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(value);
  const area = document.createElement("textarea");
  area.className = "visually-hidden";
  area.value = value;
  button.after(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  button.focus();
}
