import { useEffect, useRef } from "react";

/** Work that the user can stop, and that stops when they leave the page. */
export function useStopping() {
  const controller = useRef<AbortController>(undefined);
  const stop = () => controller.current?.abort();
  useEffect(() => stop, []);
  return {
    begin(): AbortSignal {
      controller.current = new AbortController();
      return controller.current.signal;
    },
    stop,
    isStopped: controller.current?.signal.aborted === true,
  };
}
