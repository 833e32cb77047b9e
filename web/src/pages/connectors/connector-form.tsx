import { useState } from "react";
import type { ShownConnector } from "../../../../src/contract/setting/connector.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { usePlatforms } from "../campaigns/platform-choice.tsx";
import { CheckPanel } from "./check-panel.tsx";
import { type Draft, type DraftProps, declarationOf, draftOf, NEW } from "./connector-draft.ts";
import { AnswerFields, CallFields, CodeFields, SignFields } from "./connector-fields.tsx";
import { CONNECTOR_VIEWS } from "./connector-query.ts";
import { Placeholders } from "./placeholders.tsx";
import { texts } from "./texts.ts";

/** Declares a connector unless one is given. It can be checked before it is saved. */
export function ConnectorForm({ connector, onClose }: { connector?: ShownConnector; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const platformName = usePlatformName();
  const [draft, setDraft] = useState<Draft>(connector ? draftOf(connector) : NEW);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const declaration = declarationOf(draft);
  const asked = { app_id: app.app_id, ad_platform: draft.platform.trim(), declaration };
  const isReady = asked.ad_platform !== "" && declaration !== undefined;
  return (
    <ChangeDialog
      title={connector ? text.form.edit(platformName(connector.ad_platform)) : text.form.create}
      width="wide"
      submit={{ label: text.form.submit, disabled: !isReady }}
      ask={() => post<ShownConnector>("connectors/set", asked)}
      stale={CONNECTOR_VIEWS}
      said={() => text.saved}
      onClose={onClose}
    >
      <p className="soft">{text.form.about}</p>
      {!connector && <PlatformField draft={draft} onChange={change} />}
      <CallFields draft={draft} onChange={change} />
      <SignFields draft={draft} onChange={change} />
      <CodeFields draft={draft} onChange={change} />
      <AnswerFields draft={draft} onChange={change} />
      <Placeholders />
      <CheckPanel asked={asked} isReady={isReady} />
    </ChangeDialog>
  );
}

/** Platforms that take no postbacks so far are suggested; any other name can be typed. */
function PlatformField({ draft, onChange }: DraftProps) {
  const text = useTexts(texts).form;
  const platformName = usePlatformName();
  const { data } = usePlatforms();
  const possible = data?.platforms.filter(({ postbacks, click_links }) => !postbacks && click_links) ?? [];
  return (
    <TextField
      label={text.platform}
      hint={text.platformHint}
      value={draft.platform}
      onChange={(platform) => onChange({ platform })}
      suggestions={possible.map(({ name }) => ({ value: name, label: platformName(name) }))}
      spellCheck={false}
      required
    />
  );
}
