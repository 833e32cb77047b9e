import { ApiError } from "../../errors.ts";

/** A question that cannot be answered: the sentence says what to change. */
export function refused(sentence: string): ApiError {
  return new ApiError("badParameter", sentence);
}

/** What somebody wrote, short enough for a sentence. */
export function shown(text: unknown): string {
  return (JSON.stringify(text) ?? "nothing").slice(0, 60);
}
