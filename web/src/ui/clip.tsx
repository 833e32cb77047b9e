/** Cuts a long text short; hovering shows all of it. */
export function Clip({ text, hint = text }: { text: string; hint?: string }) {
  return (
    <span className="clip" title={hint}>
      {text}
    </span>
  );
}
