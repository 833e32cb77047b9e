/** A time zone in which it is about noon: no run crosses midnight, and everyone agrees on the day. */
export function zoneAtNoon(nowMs: number): string {
  const ahead = 12 - new Date(nowMs).getUTCHours();
  return ahead === 0 ? "UTC" : `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`;
}
