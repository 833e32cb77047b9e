import { useState } from "react";
import { addDays } from "../../format.ts";
import { useToday } from "../../report/days.ts";
import { POSTBACK_STATUS, RESENDABLE } from "../../report/postback-status.ts";
import { useTexts } from "../../texts.ts";
import { DateRange } from "../../ui/date-range.tsx";
import { FormDialog } from "../../ui/dialog.tsx";
import { Check, SelectField, TextField } from "../../ui/field.tsx";
import { useEventWords } from "./event-texts.ts";
import { PostbackPlatformField } from "./outbox-filters.tsx";
import type { ResendWish } from "./resend.tsx";
import { texts } from "./resend-texts.ts";

const OTHER = "…";

type ResendManyProps = { onAsk: (wish: ResendWish) => void; onClose: () => void };

/** Chooses which postbacks to send again; the next dialog asks for confirmation. */
export function ResendManyDialog({ onAsk, onClose }: ResendManyProps) {
  const text = useTexts(texts);
  const words = useEventWords();
  const today = useToday();
  const [status, setStatus] = useState(String(POSTBACK_STATUS.givenUp));
  const [platform, setPlatform] = useState("");
  const [reason, setReason] = useState("");
  const [isOther, setOther] = useState(false);
  const [isAnyDay, setAnyDay] = useState(true);
  const [days, setDays] = useState({ from: addDays(today, -6), to: today });
  const ask = () =>
    onAsk({
      kind: "ended",
      status: Number(status),
      ...(platform !== "" && { ad_platform: platform }),
      ...(reason !== "" && { reason }),
      ...(!isAnyDay && days),
    });
  return (
    <FormDialog title={text.many} submit={{ label: text.next }} doing={{ mutate: ask }} onClose={onClose}>
      <div className="form-pair">
        <SelectField
          label={text.status}
          value={status}
          choices={RESENDABLE.map((value) => ({ value: String(value), label: words.status(value) }))}
          onChange={setStatus}
        />
        <PostbackPlatformField value={platform} onChange={setPlatform} />
      </div>
      <SelectField
        label={text.reason}
        value={isOther ? OTHER : reason}
        choices={[
          { value: "", label: text.anyReason },
          ...Object.entries(words.skips).map(([value, label]) => ({ value, label })),
          { value: OTHER, label: text.otherReason },
        ]}
        onChange={(value) => {
          setOther(value === OTHER);
          setReason(value === OTHER ? "" : value);
        }}
      />
      {isOther && <TextField label={text.otherReason} hint={text.reasonHint} value={reason} onChange={setReason} />}
      <Check label={text.allDays} checked={isAnyDay} onChange={setAnyDay} />
      {!isAnyDay && (
        <div className="form-pair">
          <DateRange days={days} today={today} onChange={setDays} />
        </div>
      )}
    </FormDialog>
  );
}
