/** A text of any length that takes no more room than it should; the whole of it is shown where the pointer rests. */
export function Clip({ text }: { text: string }) {
  return (
    <span className="clip" title={text}>
      {text}
    </span>
  );
}
