import { useState } from "react";
import type {
  DeveloperDecision,
  DeveloperDecisionBody,
  ShownDeveloper,
} from "../../../../src/contract/setting/developer.ts";
import { post } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { DEVELOPERS_KEY, useGrant } from "./grant.ts";
import { KeyDialog } from "./key.tsx";
import { texts } from "./texts.ts";

export type Decision = DeveloperDecisionBody["state"];

type DecideProps = { developer: ShownDeveloper; decision: Decision; onClose: () => void };

/** Approves or rejects an application. Approval shows the key, this once only. */
export function DecideDialog({ developer, decision, onClose }: DecideProps) {
  const text = useTexts(texts);
  const words = useWords(developer)[decision];
  const [reason, setReason] = useState("");
  const deciding = useChange({
    ask: () => {
      const body: DeveloperDecisionBody = { id: developer.id, state: decision, reason };
      return post<DeveloperDecision>("developers/decide", body);
    },
    stale: [DEVELOPERS_KEY],
    said: () => text.decided[decision],
    onDone: ({ app_key }) => {
      if (app_key === undefined) onClose();
    },
  });
  const appKey = deciding.data?.app_key;
  if (appKey !== undefined) return <KeyDialog name={developer.name} appKey={appKey} onClose={onClose} />;
  return (
    <FormDialog
      title={words.title}
      onClose={onClose}
      submit={{ label: words.submit, look: decision === "approved" ? "main" : "danger" }}
      doing={deciding}
    >
      {developer.purpose && decision === "approved" && <p>{developer.purpose}</p>}
      <p className={decision === "disabled" ? "notice warn" : "notice"}>{words.about}</p>
      {decision !== "approved" && (
        <TextField label={text.reason} hint={text.reasonHint} value={reason} onChange={setReason} maxLength={200} />
      )}
    </FormDialog>
  );
}

function useWords(developer: ShownDeveloper): Record<Decision, { title: string; about: string; submit: string }> {
  const text = useTexts(texts);
  const { appsText, rateText } = useGrant();
  const { name } = developer;
  return {
    approved: {
      title: text.approveTitle(name),
      about: text.approveText(appsText(developer), rateText(developer)),
      submit: text.approve,
    },
    refused: { title: text.refuseTitle(name), about: text.refuseText, submit: text.refuse },
    disabled: { title: text.disableTitle(name), about: text.disableText, submit: text.disable },
  };
}
