/** A text of any length that takes no more room than it should; the whole of it is shown where the pointer rests. */
export function Clip({ text, hint = text }: { text: string; hint?: string }) {
  return (
    <span className="clip" title={hint}>
      {text}
    </span>
  );
}
