/** The event that reports a refund. It is not an activity of the user: usually the app's own systems send it. */
export const REFUND_EVENT = "$RefundEvent";
/** Why neither platforms nor callbacks are told of it. */
export const NOT_TOLD = `${REFUND_EVENT} is not an activity of the user, so nothing is sent about it.`;
/** The day on which a refund lowers revenue. */
export const REFUND_DAYS = ["order", "refund"] as const;
export type RefundDay = (typeof REFUND_DAYS)[number];

/** What a refund asks for. */
export type Asked = {
  /** In the minor unit of `currency`; null: all that is left of the order. */
  amount: number | null;
  currency: string;
  /** The amount in cents of the app, by its rate when the refund came; null when there was none. */
  cents: number | null;
};

export type RefundedOrder = { cents: number; sentAmount: number; currency: string };

/**
 * What counts of each of an order's refunds, in their order: never more than what is left. In the order's own currency a
 * refund is a share of the order, so that rates which have changed since leave nothing over.
 */
export function countRefunds(order: RefundedOrder, refunds: readonly Asked[]): number[] {
  let left = Math.max(0, order.cents);
  return refunds.map((asked) => {
    const counted = Math.min(left, Math.max(0, askedOf(order, asked) ?? left));
    left -= counted;
    return counted;
  });
}

function askedOf(order: RefundedOrder, { amount, currency, cents }: Asked): number | null {
  if (amount === null) return null;
  if (currency !== order.currency || order.sentAmount <= 0) return cents ?? 0;
  return shareOf(order.cents, amount, order.sentAmount);
}

/** `cents` × `part` ÷ `whole`, exact, rounded half up. */
function shareOf(cents: number, part: number, whole: number): number {
  const [above, below] = [2n * BigInt(cents) * BigInt(part) + BigInt(whole), 2n * BigInt(whole)];
  return part <= 0 ? 0 : Number(above / below);
}
