import type { EChartsCoreOption, EChartsType } from "echarts/core";
import { useEffect, useRef, useState } from "react";
import { useShownTheme } from "../theme.ts";
import { Failure } from "./failure.tsx";

type ChartProps = {
  /** The description for screen readers. */
  label: string;
  option: EChartsCoreOption;
  height?: number;
  /** Called with the bar, point or cell that was clicked. */
  onPick?: (picked: { seriesName?: string; name: string; value: unknown; dataIndex: number }) => void;
};

/** A chart in the colours of the theme. Tooltips are drawn on the canvas, because the page allows no inline styles. */
export function Chart({ label, option, height, onPick }: ChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<EChartsType>();
  const [error, setError] = useState<unknown>();
  const shownTheme = useShownTheme();

  useEffect(() => {
    let made: EChartsType | undefined;
    let isGone = false;
    const observer = new ResizeObserver(() => made?.resize());
    import("./echarts.ts").then(({ init }) => {
      if (isGone || !element.current) return;
      made = init(element.current);
      observer.observe(element.current);
      setChart(made);
    }, setError);
    return () => {
      isGone = true;
      observer.disconnect();
      made?.dispose();
    };
  }, []);

  useEffect(() => {
    if (chart && !chart.isDisposed()) chart.setOption(themed(option, shownTheme), { notMerge: true });
  }, [chart, option, shownTheme]);

  useEffect(() => {
    if (!chart || !onPick) return;
    chart.on("click", (event) => onPick(event as Parameters<typeof onPick>[0]));
    return () => {
      if (!chart.isDisposed()) chart.off("click");
    };
  }, [chart, onPick]);

  if (error) return <Failure error={error} />;
  return <div ref={element} className="chart" role="img" aria-label={label} style={height ? { height } : {}} />;
}

const prefersStill = matchMedia("(prefers-reduced-motion: reduce)");

/** `_theme` is a parameter only so that a change of theme reads the colours again. */
function themed(option: EChartsCoreOption, _theme: "light" | "dark"): EChartsCoreOption {
  const styles = getComputedStyle(document.documentElement);
  const colour = (name: string) => styles.getPropertyValue(`--${name}`).trim();
  const axis = {
    axisLine: { lineStyle: { color: colour("line-strong") } },
    axisLabel: { color: colour("ink-soft") },
    nameTextStyle: { color: colour("ink-soft") },
    splitLine: { lineStyle: { color: colour("line") } },
  };
  const withColours = (given: Record<string, object>) => {
    const parts = Object.entries(axis).map(([name, colours]) => [name, { ...colours, ...given[name] }]);
    return { ...given, ...Object.fromEntries(parts) };
  };
  const withAxis = (given: unknown) =>
    Array.isArray(given) ? given.map(withColours) : given ? withColours(given as Record<string, object>) : given;
  const { tooltip, legend, xAxis, yAxis, ...rest } = option;
  return {
    color: [1, 2, 3, 4, 5, 6, 7, 8].map((number) => colour(`chart-${number}`)),
    backgroundColor: "transparent",
    textStyle: { fontFamily: colour("font"), color: colour("ink") },
    grid: { left: 8, right: 16, top: 36, bottom: 8, containLabel: true },
    animation: !prefersStill.matches,
    animationDuration: 250,
    ...rest,
    ...(xAxis ? { xAxis: withAxis(xAxis) } : {}),
    ...(yAxis ? { yAxis: withAxis(yAxis) } : {}),
    ...(legend
      ? { legend: { type: "scroll", top: 0, textStyle: { color: colour("ink-soft") }, ...(legend as object) } }
      : {}),
    tooltip: {
      trigger: "axis",
      renderMode: "richText",
      confine: true,
      backgroundColor: colour("raised"),
      borderColor: colour("line-strong"),
      textStyle: { color: colour("ink") },
      ...(tooltip as object),
    },
  };
}
