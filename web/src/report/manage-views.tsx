import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { SavedView } from "../../../src/contract/admin/report-view.ts";
import { post } from "../api.ts";
import { useApp } from "../chosen-app.tsx";
import { useMay } from "../may.ts";
import { useTexts } from "../texts.ts";
import { Button } from "../ui/button.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { FormDialog, TellDialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Check, TextField } from "../ui/field.tsx";
import { say } from "../ui/toast.tsx";
import { refreshViews } from "./view-query.ts";
import { texts } from "./view-texts.ts";

/** Renames, shares and removes saved views. */
export function ManageViews({ views, onClose }: { views: readonly SavedView[]; onClose: () => void }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const mayShare = useMay("setting");
  const [renamed, setRenamed] = useState<SavedView>();
  const changing = useMutation({
    mutationFn: ({ path, ...body }: { path: "share" | "remove"; view_id: number; is_shared?: boolean }) =>
      post(`report/views/${path}`, { app_id, ...body }),
    onSuccess: () => refreshViews(app_id),
  });
  const remove = ({ view_id, name }: SavedView) =>
    changing.mutate({ path: "remove", view_id }, { onSuccess: () => say(text.removed(name)) });
  return (
    <TellDialog title={text.manage.replace(/ ?…$/, "")} width="wide" onClose={onClose}>
      {changing.error && <Failure error={changing.error} />}
      <DataTable
        label={text.views}
        rows={views}
        keyOf={({ view_id }) => view_id}
        empty={<p className="soft">{text.noViews}</p>}
        columns={[
          { name: "name", title: text.viewName, cell: ({ name }: SavedView) => name },
          { name: "owner", title: text.owner, cell: ({ owner }: SavedView) => owner },
          {
            name: "shared",
            title: text.shared,
            cell: ({ view_id, is_shared, name }: SavedView) => (
              <Check
                label={<span className="visually-hidden">{`${text.share}: ${name}`}</span>}
                checked={is_shared}
                disabled={!mayShare || changing.isPending}
                onChange={(isShared) => changing.mutate({ path: "share", view_id, is_shared: isShared })}
              />
            ),
          },
          {
            name: "change",
            title: "",
            cell: (view: SavedView) =>
              view.may_change && (
                <span className="row end">
                  <Button size="small" onClick={() => setRenamed(view)}>
                    {text.rename}
                  </Button>
                  <Button size="small" look="danger" disabled={changing.isPending} onClick={() => remove(view)}>
                    {text.removeView}
                  </Button>
                </span>
              ),
          },
        ]}
      />
      {renamed && <RenameDialog view={renamed} onClose={() => setRenamed(undefined)} />}
    </TellDialog>
  );
}

function RenameDialog({ view, onClose }: { view: SavedView; onClose: () => void }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const [name, setName] = useState(view.name);
  const renaming = useMutation({
    mutationFn: () => post("report/views/rename", { app_id, view_id: view.view_id, name }),
    onSuccess: async () => {
      await refreshViews(app_id);
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.rename}
      submit={{ label: text.save, disabled: name.trim() === "" }}
      doing={renaming}
      onClose={onClose}
    >
      <TextField label={text.viewName} value={name} onChange={setName} maxLength={100} required />
    </FormDialog>
  );
}
