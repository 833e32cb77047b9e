/** A zone in which it is about noon: no run meets midnight, and a day has one name for everybody. */
export function zoneAtNoon(nowMs: number): string {
  const ahead = 12 - new Date(nowMs).getUTCHours();
  return ahead === 0 ? "UTC" : `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`;
}
