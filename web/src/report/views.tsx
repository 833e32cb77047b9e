import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { SavedView, SavedViews } from "../../../src/contract/admin/report-view.ts";
import { post } from "../api.ts";
import { useAppQuery } from "../app-query.ts";
import { useChange } from "../change.ts";
import { useApp } from "../chosen-app.tsx";
import { useMay } from "../may.ts";
import { useTexts } from "../texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Dropdown } from "../ui/dropdown.tsx";
import { Failure } from "../ui/failure.tsx";
import { Check, TextField } from "../ui/field.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { say } from "../ui/toast.tsx";
import { daysBetween, useToday } from "./days.ts";
import { ManageViews } from "./manage-views.tsx";
import { refreshViews, VIEWS } from "./view-query.ts";
import { isOf, type Viewed, type ViewedState, viewParameters, viewState } from "./view-state.ts";
import { texts } from "./view-texts.ts";
import "./views.css";

type ViewsProps<State extends ViewedState> = { viewed: Viewed<State>; onOpen: (state: State) => void };

/** Saved views of a page: opens one, saves the current one, or manages them. */
export function Views<State extends ViewedState>({ viewed, onOpen }: ViewsProps<State>) {
  const text = useTexts(texts);
  const today = useToday();
  const [dialog, setDialog] = useState<"save" | "manage">();
  const query = useAppQuery<SavedViews>(VIEWS);
  const own = (query.data?.views ?? []).filter((view) => isOf(viewed.page, view));
  const current = own.find(({ view_id }) => String(view_id) === viewed.url.view);
  const open = (view: SavedView) => onOpen(viewState(viewed.defaults, view, today));
  return (
    <>
      <Dropdown
        title={current ? text.viewOpen(current.name) : text.views}
        align="right"
        isActive={current !== undefined}
      >
        {(close) => (
          <>
            <QueryView query={query}>
              {() => (
                <ViewList
                  views={own}
                  onOpen={(view) => {
                    open(view);
                    close();
                  }}
                />
              )}
            </QueryView>
            {current?.may_change && <UpdateButton view={current} viewed={viewed} />}
            <Button onClick={() => setDialog("save")}>{text.saveAs}</Button>
            {own.length > 0 && (
              <Button look="quiet" onClick={() => setDialog("manage")}>
                {text.manage}
              </Button>
            )}
          </>
        )}
      </Dropdown>
      {dialog === "save" && <SaveDialog viewed={viewed} onSaved={open} onClose={() => setDialog(undefined)} />}
      {dialog === "manage" && <ManageViews views={own} onClose={() => setDialog(undefined)} />}
    </>
  );
}

function ViewList({ views, onOpen }: { views: readonly SavedView[]; onOpen: (view: SavedView) => void }) {
  const text = useTexts(texts);
  if (views.length === 0) return <span className="soft">{text.noViews}</span>;
  return (
    <ul className="view-list">
      {views.map((view) => (
        <li key={view.view_id}>
          <button type="button" className="view-button" onClick={() => onOpen(view)}>
            {view.name} {view.is_shared && <Badge tone="accent">{text.shared}</Badge>}
          </button>
        </li>
      ))}
    </ul>
  );
}

function UpdateButton<State extends ViewedState>({ view, viewed }: { view: SavedView; viewed: Viewed<State> }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const today = useToday();
  const saving = useMutation({
    mutationFn: () => {
      const { view_id, name } = view;
      return post("report/views/save", { app_id, view_id, name, parameters: viewParameters(viewed, today) });
    },
    onSuccess: () => {
      say(text.saved(view.name));
      return refreshViews(app_id);
    },
  });
  return (
    <>
      <Button disabled={saving.isPending} onClick={() => saving.mutate()}>
        {text.update(view.name)}
      </Button>
      {saving.error && <Failure error={saving.error} />}
    </>
  );
}

type SaveDialogProps<State extends ViewedState> = {
  viewed: Viewed<State>;
  onSaved: (view: SavedView) => void;
  onClose: () => void;
};

function SaveDialog<State extends ViewedState>({ viewed, onSaved, onClose }: SaveDialogProps<State>) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const today = useToday();
  const mayShare = useMay("setting");
  const { url } = viewed;
  const [name, setName] = useState("");
  const [isShared, setShared] = useState(false);
  const saving = useChange({
    ask: async () => {
      const parameters = viewParameters(viewed, today);
      const view = await post<SavedView>("report/views/save", { app_id, name, parameters });
      if (!isShared) return view;
      return post<SavedView>("report/views/share", { app_id, view_id: view.view_id, is_shared: true });
    },
    stale: [[VIEWS]],
    said: (view) => text.saved(view.name),
    onDone: (view) => {
      onSaved(view);
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.saveAs.replace(/ ?…$/, "")}
      submit={{ label: text.save, disabled: name.trim() === "" }}
      doing={saving}
      onClose={onClose}
    >
      <TextField label={text.viewName} value={name} onChange={setName} maxLength={100} required autoFocus />
      <p className="soft small">{url.to === today ? text.rolls(daysBetween(url) + 1) : text.fixed(url.from, url.to)}</p>
      {mayShare && <Check label={text.share} checked={isShared} onChange={setShared} />}
    </FormDialog>
  );
}
