import { ApiFailure } from "../api.ts";
import { useTexts } from "../texts.ts";
import { Button } from "./button.tsx";
import { texts } from "./texts.ts";

/** What went wrong, in the server's words, with a button to try again where that makes sense. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const text = useTexts(texts);
  const isAway = error instanceof ApiFailure && error.isUnreachable;
  const sentence = isAway ? text.unreachable : error instanceof Error ? error.message : String(error);
  return (
    <div className="failure" role="alert">
      <span>{sentence}</span>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          {text.tryAgain}
        </Button>
      )}
    </div>
  );
}
