import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RequestText } from "../../../../src/contract/admin/console-report.ts";
import type { DeveloperList } from "../../../../src/contract/setting/developer.ts";
import { get, post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useMay } from "../../may.ts";
import { publicUrl } from "../../public-url.ts";
import { useStored } from "../../stored.ts";
import { useTexts } from "../../texts.ts";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { TellDialog } from "../../ui/dialog.tsx";
import { SelectField } from "../../ui/field.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { publicBody, type ReportState } from "./state.ts";
import { texts } from "./texts.ts";

/** This report as a call to the public interface. Only admins can see a signed one. */
export function RequestDialog({ state, onClose }: { state: ReportState; onClose: () => void }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const maySign = useMay("installation");
  const developers = useDevelopers(app_id, maySign);
  const [chosen, setChosen] = useState<string>();
  const [tab, setTab] = useState<"curl" | "node" | "body">("curl");
  // If there is an application, the call is most likely wanted signed.
  const developer = chosen ?? (maySign ? String(developers.data?.[0]?.id ?? "") : "");
  const body = { ...publicBody(app_id, state), base_url: useStored(publicUrl) };
  const query = useQuery({
    queryKey: ["report/request-text", body, developer],
    placeholderData: keepPreviousData,
    enabled: !developers.isLoading,
    queryFn: ({ signal }) =>
      post<RequestText>(
        "report/request-text",
        { ...body, ...(developer && { developer_id: Number(developer) }) },
        signal,
      ),
  });
  const choices = (developers.data ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  return (
    <TellDialog title={text.apiCall} width="wide" onClose={onClose}>
      <p className="soft">{text.apiAbout}</p>
      {maySign && (
        <SelectField
          label={text.signedBy}
          value={developer}
          choices={[...choices, { value: "", label: text.placeholders }]}
          onChange={setChosen}
          hint={developers.data?.length === 0 ? text.noDeveloper : undefined}
        />
      )}
      <QueryView query={query}>
        {(request) => (
          <>
            {!request.is_signed && <p className="notice">{text.unsigned}</p>}
            <Tabs
              tabs={(["curl", "node", "body"] as const).map((name) => ({ name, title: text[name] }))}
              chosen={tab}
              onChoose={(name) => setTab(name as typeof tab)}
            >
              <CopyBlock value={request[tab]} wrap />
            </Tabs>
          </>
        )}
      </QueryView>
    </TellDialog>
  );
}

/** Applications that may make this call themselves. */
function useDevelopers(appId: number, enabled: boolean) {
  return useQuery({
    queryKey: ["developers"],
    enabled,
    queryFn: () => get<DeveloperList>("developers"),
    select: ({ developers }) =>
      developers.filter(({ state, apps }) => state === "approved" && (apps === "all" || apps.includes(appId))),
  });
}
