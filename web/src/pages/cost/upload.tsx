import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { TakenFile } from "../../../../src/contract/admin/cost.ts";
import { postFile, queries } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { SelectField } from "../../ui/field.tsx";
import { Progress } from "../../ui/progress.tsx";
import { say } from "../../ui/toast.tsx";
import { useUrlState } from "../../url-state.ts";
import { FILE_KINDS, type FileKind, type ReadFile, readFile } from "./csv-file.ts";
import { DropZone, TemplateButton } from "./drop-zone.tsx";
import { type Preview, PreviewView } from "./preview.tsx";
import { REBATE_VIEWS } from "./rebate-query.ts";
import { COSTS_KEY } from "./stored-costs.tsx";
import { texts } from "./upload-texts.ts";

/** Takes a file, previews its effect, then imports it. */
export function Upload() {
  const text = useTexts(texts);
  const [{ kind: named }, change] = useUrlState({ kind: "cost" });
  const kind: FileKind = FILE_KINDS.find((one) => one === named) ?? "cost";
  const upload = useUpload(kind);
  const choose = (next: string) => {
    change({ kind: next });
    upload.forget();
  };
  return (
    <>
      <p className="soft">{text.about}</p>
      <div className="row fields upload-kind">
        <SelectField
          label={text.kind}
          value={kind}
          choices={FILE_KINDS.map((value) => ({ value, label: text.kinds[value] }))}
          onChange={choose}
        />
        <TemplateButton kind={kind} />
      </div>
      <p className="soft small upload-explained">
        {text.explained[kind]} {kind === "cost" && text.pulledNote}
      </p>
      {upload.preview ? <Chosen upload={upload} /> : <DropZone onFile={upload.look} isBusy={upload.isLooking} />}
      {upload.isLooking && <Progress label={text.reading} />}
      {upload.problem ? <Failure error={upload.problem} /> : null}
    </>
  );
}

/** What shows refunds. */
const REFUND_VIEWS = [["orders"], ["postbacks"], ["timeline"]];

function useUpload(kind: FileKind) {
  const text = useTexts(texts);
  const app = useApp();
  const { number } = useFormat();
  const [file, setFile] = useState<ReadFile>();
  const send = <Answer,>(path: string, { text: csv }: ReadFile) => postFile<Answer>(path, { app_id: app.app_id }, csv);
  const looking = useMutation({
    mutationFn: async (given: File) => {
      const read = await readFile(given);
      setFile(read);
      return send<Preview>(`${kind}/import/preview`, read);
    },
  });
  const taking = useMutation({
    mutationFn: () => send<TakenFile>(`${kind}/import`, file!),
    onSuccess: async ({ rows }) => {
      for (const queryKey of [[COSTS_KEY], ...REBATE_VIEWS, ...REFUND_VIEWS])
        await queries.invalidateQueries({ queryKey });
      say(text.taken(number(rows)));
      forget();
    },
  });
  const forget = () => {
    setFile(undefined);
    looking.reset();
    taking.reset();
  };
  return {
    file,
    forget,
    preview: looking.data,
    isLooking: looking.isPending,
    isTaking: taking.isPending,
    problem: looking.error ?? taking.error,
    look: (given: File) => looking.mutate(given),
    take: () => taking.mutate(),
  };
}

function Chosen({ upload }: { upload: ReturnType<typeof useUpload> }) {
  const text = useTexts(texts);
  const mayChange = useMay("operate");
  const { number } = useFormat();
  const { file, preview, isTaking } = upload;
  if (!file || !preview) return null;
  const rows = preview.rows.new + preview.rows.replaces + preview.rows.same;
  const isRight = preview.problem_count === 0 && rows > 0;
  return (
    <>
      <div className="row apart">
        <span>{text.readAs(file.name, file.encoding)}</span>
        <span className="row">
          <Button onClick={upload.forget}>{text.another}</Button>
          {mayChange && (
            <Button look="main" disabled={!isRight || isTaking} onClick={upload.take}>
              {text.submit(number(rows))}
            </Button>
          )}
        </span>
      </div>
      {isTaking && <Progress label={text.taking} />}
      {!mayChange && <p className="notice">{text.adminOnly}</p>}
      <PreviewView preview={preview} />
    </>
  );
}
