import { stored } from "./stored.ts";

/** The address at which the outside world reaches this server, remembered by the browser. Defaults to the console's own. */
export const publicUrl = stored<string>("public-url", {
  isValue: (text): text is string => text !== "",
  fallback: location.origin,
});
