import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ShareList, ShownShareRule } from "../../../../src/contract/setting/share.ts";
import { get, post } from "../../api.ts";
import type { ShownApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { TellDialog } from "../../ui/dialog.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { type Draft, draftOf, isGoodDraft, newDraft, RuleFields, ruleOf } from "./share-rule.tsx";
import { texts } from "./share-texts.ts";

const SHARES = "shares";
/** Queries that show rules, or figures that depend on them. */
const SHARE_VIEWS = [[SHARES], ["report/ad"], ["report/chart"], ["report/explain"]] as const;

type SharesProps = { app: ShownApp; onClose: () => void };

/** The rules by which payments of an app count after the store's cut. */
export function SharesDialog({ app, onClose }: SharesProps) {
  const text = useTexts(texts);
  const { app_id, name } = app;
  const shares = useQuery<ShareList>({
    queryKey: [SHARES, app_id],
    queryFn: ({ signal }) => get<ShareList>(SHARES, { app_id }, signal),
    // The form begins with what is stored now.
    gcTime: 0,
  });
  if (shares.data) return <SharesForm app={app} rules={shares.data.rules} onClose={onClose} />;
  return (
    <TellDialog title={text.title(name)} onClose={onClose}>
      <QueryView query={shares}>{() => null}</QueryView>
    </TellDialog>
  );
}

function SharesForm({ app, rules, onClose }: SharesProps & { rules: readonly ShownShareRule[] }) {
  const text = useTexts(texts);
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => rules.map(draftOf));
  const change = (id: number, part: Partial<Draft>) =>
    setDrafts((before) => before.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const moveUp = (at: number) => setDrafts((before) => before.toSpliced(at - 1, 2, before[at]!, before[at - 1]!));
  return (
    <ChangeDialog
      title={text.title(app.name)}
      width="wide"
      submit={{ label: text.save, disabled: !drafts.every(isGoodDraft) }}
      ask={() => post<ShareList>("shares/set", { app_id: app.app_id, rules: drafts.map(ruleOf) })}
      stale={SHARE_VIEWS}
      said={() => text.saved}
      onClose={onClose}
    >
      <p className="soft">{text.about(`${Math.round(app.pay_share * 10_000) / 100} %`)}</p>
      {drafts.map((draft, at) => (
        <fieldset key={draft.id} className="rates stack tight">
          <legend>{text.rule(at + 1)}</legend>
          <RuleFields draft={draft} onChange={(part) => change(draft.id, part)} />
          <div className="row">
            <Button size="small" disabled={at === 0} onClick={() => moveUp(at)}>
              {text.up}
            </Button>
            <Button size="small" onClick={() => setDrafts(drafts.filter(({ id }) => id !== draft.id))}>
              {text.remove}
            </Button>
          </div>
        </fieldset>
      ))}
      <div>
        <Button size="small" onClick={() => setDrafts([...drafts, newDraft()])}>
          {text.add}
        </Button>
      </div>
    </ChangeDialog>
  );
}
