import { useEffect, useRef, useState } from "react";
import type { LiveCall } from "../../../../src/contract/live.ts";
import { addressOf, queries, SESSION_KEY } from "../../api.ts";

export type LiveFilter = { appId: number; client: string; event: string; scope: string };

/** connecting: for the first time, or again after the connection was lost. ended: the server closed it for good. */
export type LineState = "connecting" | "open" | "ended";

export type LiveStream = {
  state: LineState;
  /** The calls shown, newest first. */
  calls: readonly LiveCall[];
  /** Calls that the server left out, because more came than a person could follow. */
  missed: number;
  /** Calls that arrived while the stream was paused. */
  held: number;
  clear: () => void;
  reconnect: () => void;
};

const CALLS_MAX = 300;
/** The page is drawn at this interval rather than for each call, so that it can be read. */
const SHOW_MS = 200;

/** The app's calls as the server streams them. While paused, new calls are held back. */
export function useLiveStream(filter: LiveFilter, isPaused: boolean): LiveStream {
  const { appId, client, event, scope } = filter;
  const [state, setState] = useState<LineState>("connecting");
  const [calls, setCalls] = useState<readonly LiveCall[]>([]);
  const [missed, setMissed] = useState(0);
  const [held, setHeld] = useState(0);
  const [attempt, setAttempt] = useState(0);
  const waiting = useRef<LiveCall[]>([]);

  useEffect(() => {
    const source = new EventSource(addressOf("live/stream", { app_id: appId, client_id: client, event, scope }));
    waiting.current = [];
    setCalls([]);
    setMissed(0);
    setState("connecting");
    source.addEventListener("open", () => setState("open"));
    source.addEventListener("message", ({ data }) => waiting.current.push(JSON.parse(data) as LiveCall));
    source.addEventListener("missed", ({ data }) => {
      const { calls: left } = JSON.parse(data) as { calls: number };
      setMissed((before) => before + left);
    });
    source.addEventListener("error", () => {
      const isOver = source.readyState === EventSource.CLOSED;
      setState(isOver ? "ended" : "connecting");
      // If the session has ended, fetching it shows the sign-in page.
      if (isOver) void queries.invalidateQueries({ queryKey: SESSION_KEY });
    });
    return () => source.close();
  }, [appId, client, event, scope, attempt]);

  useEffect(() => {
    const timer = setInterval(() => {
      // Holds back no more calls than could be shown.
      waiting.current = waiting.current.slice(-CALLS_MAX);
      setHeld(isPaused ? waiting.current.length : 0);
      if (isPaused || waiting.current.length === 0) return;
      const fresh = waiting.current.splice(0).reverse();
      setCalls((before) => [...fresh, ...before].slice(0, CALLS_MAX));
    }, SHOW_MS);
    return () => clearInterval(timer);
  }, [isPaused]);

  return {
    state,
    calls,
    missed,
    held,
    clear: () => setCalls([]),
    reconnect: () => setAttempt((before) => before + 1),
  };
}
