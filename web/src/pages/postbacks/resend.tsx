import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Postback, Resent } from "../../../../src/contract/setting/postback.ts";
import { post, queries } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useStopping } from "../../stopping.ts";
import { useTexts } from "../../texts.ts";
import { FormDialog, TellDialog } from "../../ui/dialog.tsx";
import { Progress } from "../../ui/progress.tsx";
import { useEventWords } from "./event-texts.ts";
import { texts } from "./resend-texts.ts";

/** Selected postbacks, or all with a given status. */
export type ResendWish =
  | { kind: "selected"; rows: readonly Postback[] }
  | { kind: "ended"; status: number; ad_platform?: string; reason?: string; from?: string; to?: string };

type ResendProps = { wish: ResendWish; onDone: () => void; onClose: () => void };

/** Asks for confirmation, sends, and shows the result. Closing it stops further sends. */
export function ResendDialog({ wish, onDone, onClose }: ResendProps) {
  const text = useTexts(texts);
  const app = useApp();
  const { number } = useFormat();
  const [takenSoFar, setTakenSoFar] = useState(0);
  const stopping = useStopping();
  const sending = useMutation({
    mutationFn: () => resendAll(bodyOf(app.app_id, wish), stopping.begin(), setTakenSoFar),
    onSuccess: onDone,
    onSettled: async () => {
      const shown = ["postbacks", "postback/recent", "postback/status"];
      await Promise.all(shown.map((name) => queries.invalidateQueries({ queryKey: [name] })));
    },
  });
  if (sending.data) return <ResentDialog resent={sending.data} onClose={onClose} />;
  return (
    <FormDialog title={text.title} submit={{ label: text.submit }} doing={sending} onClose={onClose}>
      <WishText wish={wish} />
      <p className="soft">{text.warning}</p>
      {sending.isPending && <Progress label={text.sending(number(takenSoFar))} />}
    </FormDialog>
  );
}

function bodyOf(app_id: number, wish: ResendWish): object {
  if (wish.kind === "ended") {
    const { kind: _, ...ended } = wish;
    return { app_id, ...ended };
  }
  const postbacks = wish.rows.map(({ client_id, event_type, subject }) => ({ client_id, event_type, subject }));
  return { app_id, postbacks };
}

/** Repeats the call until nothing is left: each call takes a limited number. */
async function resendAll(body: object, signal: AbortSignal, onTaken: (taken: number) => void): Promise<Resent> {
  const sum: Resent = { taken: 0, refused: {}, has_more: false };
  for (;;) {
    const { taken, refused, has_more } = await post<Resent>("postback/resend", body, signal);
    sum.taken += taken;
    for (const [reason, count] of Object.entries(refused) as [keyof Resent["refused"], number][]) {
      sum.refused[reason] = (sum.refused[reason] ?? 0) + count;
    }
    onTaken(sum.taken);
    if (!has_more || taken === 0) return sum;
  }
}

function WishText({ wish }: { wish: ResendWish }) {
  const text = useTexts(texts);
  const words = useEventWords();
  const platformName = usePlatformName();
  const { number } = useFormat();
  if (wish.kind === "selected") {
    const [first, ...rest] = wish.rows;
    if (first && rest.length === 0) return <p>{text.one(words.eventType(first.event_type), first.client_id)}</p>;
    return <p>{text.selected(number(wish.rows.length))}</p>;
  }
  return (
    <>
      <p>{text.ended(words.status(wish.status))}</p>
      <ul className="plain-list">
        {wish.ad_platform && <li>{text.to(platformName(wish.ad_platform))}</li>}
        {wish.reason && <li>{text.because(words.reason(wish.reason))}</li>}
        {wish.from && wish.to && <li>{text.days(wish.from, wish.to)}</li>}
      </ul>
    </>
  );
}

function ResentDialog({ resent, onClose }: { resent: Resent; onClose: () => void }) {
  const text = useTexts(texts);
  const words = useEventWords();
  const { number } = useFormat();
  const refused = Object.entries(resent.refused);
  return (
    <TellDialog title={resent.taken > 0 ? text.taken(number(resent.taken)) : text.takenNone} onClose={onClose}>
      {refused.length > 0 && (
        <>
          <p>{text.refused}</p>
          <ul className="plain-list">
            {refused.map(([reason, count]) => (
              <li key={reason}>
                {number(count)} {words.refusal(reason)}
              </li>
            ))}
          </ul>
        </>
      )}
    </TellDialog>
  );
}
