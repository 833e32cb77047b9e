import { useEffect, useRef } from "react";

/** Work that whoever has asked for it can stop, and that ends when they leave. */
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
