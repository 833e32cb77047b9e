import { DAY_MS } from "../calendar.ts";

/** The figures of a user that the reports show as `user$…`. All are sums or extremes, so order of arrival is enough. */
export type Figures = {
  payCount: number;
  payCents: number;
  payMaxCents: number;
  firstPayAtMs: number | null;
  firstPayMethod: string;
  firstPayReason: string;
  adCount: number;
  adMicros: number;
  adMaxEcpmMicros: number;
  ad24hCount: number;
  ad24hMicros: number;
  rewardAdCount: number;
  rewardAdMicros: number;
  rewardAdMaxEcpmMicros: number;
  rewardAd24hMicros: number;
  interstitialAdCount: number;
  interstitialAdMicros: number;
  interstitialAdMaxEcpmMicros: number;
  interstitialAd24hMicros: number;
  latestLoginDay: string | null;
};

export type Payment = { cents: number; atMs: number; method: string; reason: string };

/** Adds a payment. Payments count in order of arrival: the first to arrive is the first payment. */
export function addPayment(figures: Figures, payment: Payment): void {
  if (figures.payCount === 0) {
    figures.firstPayAtMs = payment.atMs;
    figures.firstPayMethod = payment.method;
    figures.firstPayReason = payment.reason;
  }
  figures.payCount += 1;
  figures.payCents += payment.cents;
  figures.payMaxCents = Math.max(figures.payMaxCents, payment.cents);
}

export type AdView = { micros: number; ecpmMicros: number; adType: string; atMs: number };

/** Adds an ad view. "24h" means the 24 hours after registration. */
export function addAdView(figures: Figures, view: AdView, registeredAtMs: number): void {
  const inFirst24h = view.atMs >= registeredAtMs && view.atMs < registeredAtMs + DAY_MS;
  const micros24h = inFirst24h ? view.micros : 0;
  figures.adCount += 1;
  figures.adMicros += view.micros;
  figures.adMaxEcpmMicros = Math.max(figures.adMaxEcpmMicros, view.ecpmMicros);
  figures.ad24hCount += inFirst24h ? 1 : 0;
  figures.ad24hMicros += micros24h;
  if (view.adType === "reward") {
    figures.rewardAdCount += 1;
    figures.rewardAdMicros += view.micros;
    figures.rewardAdMaxEcpmMicros = Math.max(figures.rewardAdMaxEcpmMicros, view.ecpmMicros);
    figures.rewardAd24hMicros += micros24h;
  } else if (view.adType === "interstitial") {
    figures.interstitialAdCount += 1;
    figures.interstitialAdMicros += view.micros;
    figures.interstitialAdMaxEcpmMicros = Math.max(figures.interstitialAdMaxEcpmMicros, view.ecpmMicros);
    figures.interstitialAd24hMicros += micros24h;
  }
}

export function addActivity(figures: Figures, day: string): void {
  if (figures.latestLoginDay === null || figures.latestLoginDay < day) figures.latestLoginDay = day;
}
