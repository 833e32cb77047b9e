import type { PostbackRule } from "../../../../src/contract/setting/postback.ts";
import { useMay } from "../../may.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { useEventWords } from "./event-texts.ts";
import { texts } from "./rule-texts.ts";
import { useRuleWords } from "./rule-words.ts";

export type Doing = { kind: "create" } | { kind: "edit" | "try" | "remove"; rule: PostbackRule };

type RuleActions = {
  rules: readonly PostbackRule[];
  onDo: (doing: Doing) => void;
  onMove: (at: number, by: 1 | -1) => void;
  onSwitch: (rule: PostbackRule) => void;
  isBusy: boolean;
};

export function useRuleColumns(actions: RuleActions): Column<PostbackRule>[] {
  const text = useTexts(texts);
  const mayChange = useMay("setting");
  const shown = useShownColumns();
  const order: Column<PostbackRule> = {
    name: "order",
    title: text.columns.order,
    cell: (rule) => <Order rule={rule} {...actions} />,
  };
  return [
    ...(mayChange ? [order] : []),
    ...shown,
    { name: "enabled", title: text.columns.enabled, cell: (rule) => <State rule={rule} {...actions} /> },
    { name: "actions", title: text.columns.actions, cell: (rule) => <Actions rule={rule} {...actions} /> },
  ];
}

function useShownColumns(): Column<PostbackRule>[] {
  const text = useTexts(texts);
  const words = useEventWords();
  const ruleWords = useRuleWords();
  const platformName = usePlatformName();
  const { columns } = text;
  return [
    {
      name: "moment",
      title: columns.moment,
      cell: ({ moment, event_type, code, rule_id }) => (
        <div className="rule-moment">
          <strong>{words.moment(moment)}</strong>
          <div className="soft small">
            {text.toldAs(words.eventType(event_type), code)} · #{rule_id}
          </div>
        </div>
      ),
    },
    {
      name: "whom",
      title: columns.whom,
      cell: ({ ad_platform, turbo_promoted_object_id }) => (
        <div className="nowrap">
          {ad_platform === "" ? text.anyPlatform : platformName(ad_platform)}
          {turbo_promoted_object_id !== "" && (
            <div className="small soft">{text.campaign(turbo_promoted_object_id)}</div>
          )}
        </div>
      ),
    },
    {
      name: "conditions",
      title: columns.conditions,
      cell: (rule) => <Conditions lines={ruleWords.conditions(rule)} />,
    },
    { name: "value", title: columns.value, cell: (rule) => ruleWords.value(rule) },
  ];
}

function Conditions({ lines }: { lines: readonly string[] }) {
  return (
    <div className="rule-conditions">
      {lines.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}

type OneRule = RuleActions & { rule: PostbackRule };

function Order({ rule, rules, onMove, isBusy }: OneRule) {
  const text = useTexts(texts);
  const words = useEventWords();
  const at = rules.indexOf(rule);
  const moment = words.moment(rule.moment);
  return (
    <span className="row nowrap">
      <Button size="small" aria-label={text.up(moment)} disabled={isBusy || at === 0} onClick={() => onMove(at, -1)}>
        ↑
      </Button>
      <Button
        size="small"
        aria-label={text.down(moment)}
        disabled={isBusy || at === rules.length - 1}
        onClick={() => onMove(at, 1)}
      >
        ↓
      </Button>
    </span>
  );
}

function State({ rule, onSwitch, isBusy }: OneRule) {
  const text = useTexts(texts);
  const mayChange = useMay("setting");
  const isOn = rule.enabled === "on";
  return (
    <span className="rule-state">
      <Badge tone={isOn ? "good" : "plain"}>{isOn ? text.on : text.off}</Badge>
      {mayChange && (
        <Button size="small" look="quiet" disabled={isBusy} onClick={() => onSwitch(rule)}>
          {isOn ? text.switchOff : text.switchOn}
        </Button>
      )}
    </span>
  );
}

function Actions({ rule, onDo }: OneRule) {
  const text = useTexts(texts);
  const mayChange = useMay("setting");
  return (
    <span className="row nowrap">
      <Button size="small" onClick={() => onDo({ kind: "try", rule })}>
        {text.tryIt}
      </Button>
      {mayChange && (
        <>
          <Button size="small" onClick={() => onDo({ kind: "edit", rule })}>
            {text.edit}
          </Button>
          <Button size="small" look="danger" onClick={() => onDo({ kind: "remove", rule })}>
            {text.remove}
          </Button>
        </>
      )}
    </span>
  );
}
