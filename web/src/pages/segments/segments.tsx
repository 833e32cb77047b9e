import { useState } from "react";
import type { ShownSegment } from "../../../../src/contract/analysis/saved-segment.ts";
import type { Segment, SegmentQuestion } from "../../../../src/contract/analysis/segment.ts";
import { LakeGate } from "../../analysis/lake-gate.tsx";
import { SEGMENTS, useSegments } from "../../analysis/saved-segments.tsx";
import { SEGMENT_DAYS } from "../../analysis/segment.ts";
import { post } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useApp } from "../../chosen-app.tsx";
import { useDays, useToday } from "../../report/days.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DateRange, type Days } from "../../ui/date-range.tsx";
import { Failure } from "../../ui/failure.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { useUrlState } from "../../url-state.ts";
import { ConditionRows } from "./condition-rows.tsx";
import { SavedList } from "./saved-list.tsx";
import { RemoveDialog, RenameDialog, SaveDialog } from "./segment-dialogs.tsx";
import { SegmentUsers } from "./segment-users.tsx";
import { DEFAULTS, type Draft, draftOf, isSame, segmentOf, textOf, type UrlState } from "./state.ts";
import { texts } from "./texts.ts";
import "../lists/lists.css";
import "../analysis/analysis.css";

/** Segments: what is saved, and one that is made or changed. */
export function SegmentsPage() {
  const text = useTexts(texts);
  const [url, change] = useUrlState<UrlState>(DEFAULTS);
  const days = useDays(url, change, SEGMENT_DAYS);
  const opened = useSegments().find(({ segment_id }) => String(segment_id) === url.segment);
  const open = (segment: ShownSegment) => change({ segment: String(segment.segment_id), condition: "" });
  const close = () => change({ segment: "", condition: "" });
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Button onClick={close}>{text.new}</Button>
      </PageHead>
      <LakeGate>
        <SavedList />
        <Editing
          // Another segment begins with fields of its own.
          key={opened?.segment_id ?? "new"}
          url={url}
          days={days}
          opened={opened}
          onChange={change}
          onOpen={open}
          onClose={close}
        />
      </LakeGate>
    </>
  );
}

type EditingProps = {
  url: UrlState;
  days: Days;
  opened: ShownSegment | undefined;
  onChange: (changes: Partial<UrlState>) => void;
  onOpen: (segment: ShownSegment) => void;
  onClose: () => void;
};

function Editing({ url, days, opened, onChange, onOpen, onClose }: EditingProps) {
  const text = useTexts(texts);
  const draft = draftOf(url.condition, opened?.condition);
  const condition = segmentOf(draft);
  const isChanged = opened !== undefined && !isSame(condition, opened.condition);
  const edit = (next: Draft) => onChange({ condition: textOf(next) });
  const question: SegmentQuestion | undefined = condition && { date_list: [days.from, days.to], segment: condition };
  return (
    <>
      <section className="card stack question" aria-label={opened?.name ?? text.isNew}>
        <div className="row apart">
          <h2>
            {opened?.name ?? text.isNew} {isChanged && <Badge tone="accent">{text.isChanged}</Badge>}
          </h2>
          <Actions opened={opened} condition={condition} isChanged={isChanged} onOpen={onOpen} onClose={onClose} />
        </div>
        <ConditionRows draft={draft} onChange={edit} />
        <div className="row fields">
          <DateRange days={days} today={useToday()} onChange={onChange} />
        </div>
        <p className="soft small">{text.rangeHint}</p>
      </section>
      {question ? (
        <SegmentUsers question={question} days={days} saved={isChanged ? undefined : opened} />
      ) : (
        <p className="notice warn">{text.incomplete}</p>
      )}
    </>
  );
}

type ActionsProps = Pick<EditingProps, "opened" | "onOpen" | "onClose"> & {
  condition: Segment | undefined;
  isChanged: boolean;
};

function Actions({ opened, condition, isChanged, onOpen, onClose }: ActionsProps) {
  const text = useTexts(texts);
  const [dialog, setDialog] = useState<"save" | "rename" | "remove">();
  const close = () => setDialog(undefined);
  const mayChange = opened?.may_change ?? false;
  return (
    <div className="row">
      {opened && mayChange && isChanged && condition && (
        <UpdateButton segment={opened} condition={condition} onSaved={onOpen} />
      )}
      <Button look={opened ? "plain" : "main"} disabled={condition === undefined} onClick={() => setDialog("save")}>
        {opened ? text.saveAs : text.saveNew}
      </Button>
      {mayChange && (
        <>
          <Button onClick={() => setDialog("rename")}>{text.rename}</Button>
          <Button look="danger" onClick={() => setDialog("remove")}>
            {text.remove}
          </Button>
        </>
      )}
      {dialog === "save" && condition && <SaveDialog condition={condition} onSaved={onOpen} onClose={close} />}
      {dialog === "rename" && opened && <RenameDialog segment={opened} onClose={close} />}
      {dialog === "remove" && opened && <RemoveDialog segment={opened} onRemoved={onClose} onClose={close} />}
    </div>
  );
}

type UpdateProps = { segment: ShownSegment; condition: Segment; onSaved: (segment: ShownSegment) => void };

function UpdateButton({ segment: { segment_id, name }, condition, onSaved }: UpdateProps) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const saving = useChange({
    ask: () => post<ShownSegment>("segments/save", { app_id, segment_id, name, condition }),
    // Whoever has asked about its users gets new answers.
    stale: [[SEGMENTS]],
    said: (segment) => text.saidSaved(segment.name),
    onDone: onSaved,
  });
  return (
    <>
      {saving.error && <Failure error={saving.error} />}
      <Button look="main" disabled={saving.isPending} onClick={() => saving.mutate()}>
        {text.save}
      </Button>
    </>
  );
}
