import { stored } from "./stored.ts";

/** Where the outside world reaches this server, as this browser remembers it; at first, where the console was opened. */
export const publicUrl = stored<string>("public-url", {
  isValue: (text): text is string => text !== "",
  fallback: location.origin,
});
