import { useEffect, useState } from "react";
import type { ShownSegment } from "../../../../src/contract/analysis/saved-segment.ts";
import type { Segment } from "../../../../src/contract/analysis/segment.ts";
import { SEGMENTS } from "../../analysis/saved-segments.tsx";
import { post, queries } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { FormDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { texts } from "./texts.ts";

const NAME_LENGTH = 100;

type SaveDialogProps = { condition: Segment; onSaved: (segment: ShownSegment) => void; onClose: () => void };

/** Saves the conditions as a new segment. */
export function SaveDialog({ condition, onSaved, onClose }: SaveDialogProps) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const [name, setName] = useState("");
  const saving = useChange({
    ask: () => post<ShownSegment>("segments/save", { app_id, name, condition }),
    stale: [[SEGMENTS]],
    said: (segment) => text.saidSaved(segment.name),
    onDone: (segment) => {
      onSaved(segment);
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.saveTitle}
      submit={{ label: text.save, disabled: name.trim() === "" }}
      doing={saving}
      onClose={onClose}
    >
      <TextField label={text.name} value={name} onChange={setName} maxLength={NAME_LENGTH} required autoFocus />
    </FormDialog>
  );
}

type SegmentProps = { segment: ShownSegment; onClose: () => void };

export function RenameDialog({ segment, onClose }: SegmentProps) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const [name, setName] = useState(segment.name);
  return (
    <ChangeDialog
      title={text.renameTitle}
      submit={{ label: text.save, disabled: name.trim() === "" }}
      ask={() => post<ShownSegment>("segments/rename", { app_id, segment_id: segment.segment_id, name })}
      stale={[[SEGMENTS]]}
      said={(renamed) => text.saidSaved(renamed.name)}
      onClose={onClose}
    >
      <TextField label={text.name} value={name} onChange={setName} maxLength={NAME_LENGTH} required autoFocus />
    </ChangeDialog>
  );
}

/** Says which views would miss the segment before it is removed. */
export function RemoveDialog({ segment, onRemoved, onClose }: SegmentProps & { onRemoved: () => void }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const { segment_id, name, views } = segment;
  // Somebody may have saved a view since the page was loaded.
  useEffect(() => void queries.invalidateQueries({ queryKey: [SEGMENTS] }), []);
  const removing = useChange({
    ask: () => post("segments/remove", { app_id, segment_id, even_if_used: views > 0 }),
    stale: [[SEGMENTS]],
    said: () => text.saidRemoved(name),
    onDone: () => {
      onRemoved();
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.removeTitle}
      submit={{ label: views > 0 ? text.removeAnyway : text.removeNow, look: "danger" }}
      doing={removing}
      onClose={onClose}
    >
      <p>{text.removeAbout(name)}</p>
      {views > 0 && <p>{text.inUse(views)}</p>}
    </FormDialog>
  );
}
