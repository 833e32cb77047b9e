type Units = { d: string; h: string; m: string; s: string; ms: string };

/** The two largest units of a duration: "2 d 3 h". */
export function durationText(ms: number, units: Units): string {
  const parts = [
    [Math.floor(ms / 86_400_000), units.d],
    [Math.floor(ms / 3_600_000) % 24, units.h],
    [Math.floor(ms / 60_000) % 60, units.m],
    [Math.floor(ms / 1_000) % 60, units.s],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).slice(0, 2);
  return shown.length === 0 ? `${ms}${units.ms}` : shown.map(([count, unit]) => `${count}${unit}`).join(" ");
}
