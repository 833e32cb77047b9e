import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { PostbackRule, PostbackRuleList } from "../../../../src/contract/setting/postback.ts";
import { post, queries } from "../../api.ts";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { ListHead } from "../../ui/list-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { DryRunDialog } from "./dry-run.tsx";
import { useEventWords } from "./event-texts.ts";
import { type Doing, useRuleColumns } from "./rule-columns.tsx";
import { RuleForm } from "./rule-form.tsx";
import { RULES } from "./rule-query.ts";
import { texts } from "./rule-texts.ts";

/** The rules that decide what is reported to platforms, and when. */
export function Rules() {
  const text = useTexts(texts);
  const [doing, setDoing] = useState<Doing>();
  const rules = useAppQuery<PostbackRuleList>(RULES);
  const close = () => setDoing(undefined);
  return (
    <>
      <ListHead about={text.about} add={text.newRule} onAdd={() => setDoing({ kind: "create" })} />
      <QueryView query={rules}>{(data) => <RuleTable rules={data.rules} onDo={setDoing} />}</QueryView>
      {doing?.kind === "create" && <RuleForm onClose={close} />}
      {doing?.kind === "edit" && <RuleForm rule={doing.rule} onClose={close} />}
      {doing?.kind === "try" && <DryRunDialog rule={doing.rule} onClose={close} />}
      {doing?.kind === "remove" && <RemoveDialog rule={doing.rule} onClose={close} />}
    </>
  );
}

function RuleTable({ rules, onDo }: { rules: readonly PostbackRule[]; onDo: (doing: Doing) => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const onSuccess = () => queries.invalidateQueries({ queryKey: [RULES] });
  const ordering = useMutation({
    mutationFn: (rule_ids: number[]) => post("postback/rules/order", { app_id: app.app_id, rule_ids }),
    onSuccess,
  });
  const switching = useMutation({
    mutationFn: ({ rule_id, enabled }: PostbackRule) =>
      post("postback/rules/edit", { app_id: app.app_id, rule_id, enabled: enabled === "on" ? "off" : "on" }),
    onSuccess,
  });
  const move = (at: number, by: 1 | -1) => {
    const ids = rules.map(({ rule_id }) => rule_id);
    const [moved] = ids.splice(at, 1);
    ids.splice(at + by, 0, moved!);
    ordering.mutate(ids);
  };
  const columns = useRuleColumns({
    rules,
    onDo,
    onMove: move,
    onSwitch: (rule) => switching.mutate(rule),
    isBusy: ordering.isPending || switching.isPending,
  });
  return (
    <>
      {(ordering.error ?? switching.error) && <Failure error={ordering.error ?? switching.error} />}
      <DataTable
        label={text.table}
        columns={columns}
        rows={rules}
        keyOf={({ rule_id }) => rule_id}
        empty={
          <Empty title={text.none}>
            <p>{text.noneHelp}</p>
          </Empty>
        }
      />
    </>
  );
}

function RemoveDialog({ rule, onClose }: { rule: PostbackRule; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const words = useEventWords();
  return (
    <ChangeDialog
      title={text.removeTitle}
      submit={{ label: text.remove, look: "danger" }}
      ask={() => post("postback/rules/remove", { app_id: app.app_id, rule_id: rule.rule_id })}
      stale={[[RULES]]}
      said={() => text.removed}
      onClose={onClose}
    >
      <p>{text.removeAbout(words.moment(rule.moment), words.eventType(rule.event_type))}</p>
    </ChangeDialog>
  );
}
